locals {
  group = one([for group in var.providerClusterConfiguration.nodeGroups : group if group.name == var.nodeGroupName])
}

module "node" {
  source = "../../modules/node"

  prefix                 = var.clusterConfiguration.cloud.prefix
  cluster_uuid           = var.clusterUUID
  node_group             = var.nodeGroupName
  index                  = var.nodeIndex
  instance_class         = local.group.instanceClass
  group_zones            = try(coalescelist(local.group.zones, []), [])
  provider_configuration = var.providerClusterConfiguration
  cloud_config           = var.cloudConfig
}
