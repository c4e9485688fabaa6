output "ip_address" {
  value       = dvp_virtual_machine.this.ip_address
  description = "Address of the node."
}

output "kubernetes_data_device_path" {
  value       = one(dvp_virtual_disk.kubernetes_data[*].device_path)
  description = "Link by which the node finds the disk for etcd; null without one."
}
