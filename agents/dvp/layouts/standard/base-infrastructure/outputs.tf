output "cloud_discovery_data" {
  description = "DVPCloudDiscoveryData of a cluster that has just begun; the discoverer adds to it."
  value = {
    apiVersion = "deckhouse.io/v1"
    kind       = "DVPCloudDiscoveryData"
    zones      = try(coalescelist(var.providerClusterConfiguration.zones, []), ["default"])
  }
}
