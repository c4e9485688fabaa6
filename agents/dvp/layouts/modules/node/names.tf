# Names follow from what a change of means another object. What can be changed in place, a size or a
# StorageClass, is in no name.
locals {
  hostname = "${var.prefix}-${var.node_group}-${var.index}"
  machine  = var.instance_class.virtualMachine
  root     = var.instance_class.rootDisk
  more     = try(var.instance_class.additionalDisks, null) == null ? [] : var.instance_class.additionalDisks

  # The node's zone: its group's zones that the provider has, in turn.
  all_zones    = try(coalescelist(var.provider_configuration.zones, []), [])
  zones        = length(var.group_zones) == 0 ? local.all_zones : [for zone in local.all_zones : zone if contains(var.group_zones, zone)]
  zone         = length(local.zones) == 0 ? null : element(local.zones, var.index)
  region       = try(var.provider_configuration.region, null)
  given_labels = try(local.machine.nodeSelector, null) == null ? {} : local.machine.nodeSelector
  node_selector = merge(
    local.given_labels,
    local.region == null ? {} : { "topology.kubernetes.io/region" = local.region },
    local.zone == null ? {} : { "topology.kubernetes.io/zone" = local.zone },
  )

  # A node beyond the end of the list gets any address.
  wanted_address = try(local.machine.ipAddresses[var.index], "Auto")
  static_address = local.wanted_address == "Auto" ? null : local.wanted_address
  address_name   = "${local.hostname}-${substr(sha256(local.wanted_address), 0, 6)}"

  root_hash = substr(sha256(jsonencode({ kind = local.root.image.kind, name = local.root.image.name })), 0, 6)
  disk_hash = substr(sha256(var.cluster_uuid), 0, 6)
  root_name = "${var.prefix}-${var.node_group}-${var.index}-${local.root_hash}"
  data_name = "${var.prefix}-${var.node_group}-kubernetes-data-${var.index}-${local.disk_hash}"
  more_names = [
    for i in range(length(local.more)) : "${var.prefix}-${var.node_group}-additional-disk-${i}-${var.index}-${local.disk_hash}"
  ]
  disk_names = concat([local.root_name], var.kubernetes_data_disk == null ? [] : [local.data_name], local.more_names)

  machine_hash = substr(sha256(jsonencode({
    cpu           = { cores = local.machine.cpu.cores, coreFraction = try(local.machine.cpu.coreFraction, "100%") }
    memory        = local.machine.memory.size
    nodeSelector  = local.node_selector
    tolerations   = try(local.machine.tolerations, null)
    priorityClass = try(local.machine.priorityClassName, null)
    ipAddress     = local.wanted_address
    sshPublicKey  = sha256(var.provider_configuration.sshPublicKey)
    disks         = local.disk_names
  })), 0, 6)
  machine_name = "${local.hostname}-${local.machine_hash}"

  labels = merge(
    try(var.provider_configuration.provider.additionalVMLabels, null) == null ? {} : var.provider_configuration.provider.additionalVMLabels,
    try(var.instance_class.additionalLabels, null) == null ? {} : var.instance_class.additionalLabels,
    try(local.machine.additionalLabels, null) == null ? {} : local.machine.additionalLabels,
    {
      "dvp.deckhouse.io/cluster-prefix" = var.prefix
      "dvp.deckhouse.io/node-group"     = var.node_group
      "dvp.deckhouse.io/hostname"       = local.hostname
    },
  )
}
