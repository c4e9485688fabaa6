module "node" {
  source = "../../modules/node"

  prefix                 = var.clusterConfiguration.cloud.prefix
  cluster_uuid           = var.clusterUUID
  node_group             = "master"
  index                  = var.nodeIndex
  instance_class         = var.providerClusterConfiguration.masterNodeGroup.instanceClass
  group_zones            = try(coalescelist(var.providerClusterConfiguration.masterNodeGroup.zones, []), [])
  provider_configuration = var.providerClusterConfiguration
  cloud_config           = var.cloudConfig
  kubernetes_data_disk   = var.providerClusterConfiguration.masterNodeGroup.instanceClass.etcdDisk
}
