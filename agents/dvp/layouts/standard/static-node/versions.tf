terraform {
  required_version = ">= 1.8"
  required_providers {
    dvp = { source = "commander.local/deckhouse/dvp" }
  }
}

provider "dvp" {
  configuration = jsonencode(var.providerClusterConfiguration)
  cluster_uuid  = var.clusterUUID
}
