data "dvp_virtual_machine_class" "this" {
  name = local.machine.virtualMachineClassName
}

data "dvp_image" "root" {
  kind = local.root.image.kind
  name = local.root.image.name
}

resource "dvp_ip_address" "this" {
  name   = local.address_name
  labels = local.labels
  static = local.static_address

  lifecycle {
    ignore_changes = [labels]
  }
}

# Disks belong to nobody in DVP: it would remove them together with a machine that is only being
# replaced. Their order of removal is OpenTofu's: the machine first.
resource "dvp_virtual_disk" "root" {
  name          = local.root_name
  labels        = local.labels
  size          = local.root.size
  storage_class = try(local.root.storageClass, null)
  image         = { kind = data.dvp_image.root.kind, name = data.dvp_image.root.name }

  lifecycle {
    ignore_changes = [labels, storage_class] # disks are moved by the controller of machines
  }
}

resource "dvp_virtual_disk" "kubernetes_data" {
  count         = var.kubernetes_data_disk == null ? 0 : 1
  name          = local.data_name
  labels        = local.labels
  size          = var.kubernetes_data_disk.size
  storage_class = try(var.kubernetes_data_disk.storageClass, null)

  lifecycle {
    ignore_changes = [labels, storage_class]
  }
}

resource "dvp_virtual_disk" "additional" {
  count         = length(local.more)
  name          = local.more_names[count.index]
  labels        = local.labels
  size          = local.more[count.index].size
  storage_class = try(local.more[count.index].storageClass, null)

  lifecycle {
    ignore_changes = [labels, storage_class]
  }
}

# It is read once, when its machine first starts, so it changes only together with the machine.
resource "dvp_cloud_init" "this" {
  name             = "${local.hostname}-cloudinit-${local.machine_hash}"
  labels           = local.labels
  user_data_base64 = var.cloud_config

  lifecycle {
    ignore_changes = [labels, user_data_base64]
  }
}

resource "dvp_virtual_machine" "this" {
  name                  = local.machine_name
  hostname              = local.hostname
  labels                = local.labels
  annotations           = try(local.machine.additionalAnnotations, null)
  class                 = data.dvp_virtual_machine_class.this.name
  cores                 = local.machine.cpu.cores
  core_fraction         = try(local.machine.cpu.coreFraction, "100%")
  memory                = local.machine.memory.size
  bootloader            = try(local.machine.bootloader, "EFI")
  run_policy            = try(local.machine.runPolicy, "AlwaysOnUnlessStoppedManually")
  live_migration_policy = try(local.machine.liveMigrationPolicy, "PreferForced")
  ip_address_name       = dvp_ip_address.this.name
  cloud_init            = dvp_cloud_init.this.name
  disks                 = concat([dvp_virtual_disk.root.name], dvp_virtual_disk.kubernetes_data[*].name, dvp_virtual_disk.additional[*].name)
  node_selector         = local.node_selector
  priority_class_name   = try(local.machine.priorityClassName, null)
  tolerations = try(local.machine.tolerations, null) == null ? null : [
    for t in local.machine.tolerations : {
      key                = try(t.key, null)
      operator           = try(t.operator, null)
      value              = try(t.value, null)
      effect             = try(t.effect, null)
      toleration_seconds = try(t.tolerationSeconds, null)
    }
  ]

  lifecycle {
    ignore_changes = [labels, annotations]
  }
}
