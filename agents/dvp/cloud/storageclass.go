package cloud

import (
	"context"

	storagev1 "k8s.io/api/storage/v1"
)

// StorageClasses lists the storage classes of DVP, which all its projects share.
func (c *Cloud) StorageClasses(ctx context.Context) ([]storagev1.StorageClass, error) {
	var all storagev1.StorageClassList
	ctx, cancel := context.WithTimeout(ctx, callBound)
	defer cancel()
	if err := c.list(ctx, &all); err != nil {
		return nil, judge(err, "list storage classes", "storageclasses", "")
	}
	return all.Items, nil
}
