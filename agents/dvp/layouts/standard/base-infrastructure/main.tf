# Machines need no network of their own in DVP. What is made here is their isolation; and what
# configurations name is looked for, so that a missing class or image is told before any machine.
locals {
  prefix   = var.clusterConfiguration.cloud.prefix
  provider = var.providerClusterConfiguration.provider
  classes = concat(
    [var.providerClusterConfiguration.masterNodeGroup.instanceClass],
    [for group in try(coalescelist(var.providerClusterConfiguration.nodeGroups, []), []) : group.instanceClass],
    [for class in var.instanceClasses : class.spec],
  )
  images = { for class in local.classes : "${class.rootDisk.image.kind}/${class.rootDisk.image.name}" => class.rootDisk.image... }
  ports  = try(local.provider.ingressPorts, null) == null ? [22] : local.provider.ingressPorts
}

data "dvp_virtual_machine_class" "used" {
  for_each = toset([for class in local.classes : class.virtualMachine.virtualMachineClassName])
  name     = each.value
}

data "dvp_image" "used" {
  for_each = local.images
  kind     = each.value[0].kind
  name     = each.value[0].name
}

resource "dvp_network_policy" "isolated" {
  count         = coalesce(try(local.provider.networkPolicy, null), "Isolated") == "Isolated" ? 1 : 0
  name          = "isolated-${local.prefix}"
  cluster_uuid  = var.clusterUUID
  ingress_ports = local.ports
}
