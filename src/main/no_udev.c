/* For programs that are linked statically: Debian has no static libudev, which its static hwloc wants. hwloc asks it about
 * disks alone, and does without where there is no context. */
#include <stddef.h>

void *udev_new(void);
void *udev_unref(void *context);
void *udev_device_new_from_subsystem_sysname(void *context, const char *subsystem, const char *name);
const char *udev_device_get_property_value(void *device, const char *key);
void *udev_device_unref(void *device);

void *udev_new(void) { return NULL; }
void *udev_unref(void *context) {
  (void)context;
  return NULL;
}
void *udev_device_new_from_subsystem_sysname(void *context, const char *subsystem, const char *name) {
  (void)context, (void)subsystem, (void)name;
  return NULL;
}
const char *udev_device_get_property_value(void *device, const char *key) {
  (void)device, (void)key;
  return NULL;
}
void *udev_device_unref(void *device) {
  (void)device;
  return NULL;
}
