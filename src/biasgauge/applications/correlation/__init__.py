"""Whether an intrinsic number tracks an extrinsic one."""
