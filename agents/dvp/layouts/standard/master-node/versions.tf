terraform {
  required_version = ">= 1.8"
  required_providers {
    dvp = { source = "commander.local/deckhouse/dvp" }
  }
}

provider "dvp" {
  kubeconfig   = var.providerClusterConfiguration.provider.kubeconfigDataBase64
  namespace    = var.providerClusterConfiguration.provider.namespace
  cluster_uuid = var.clusterUUID
}
