/* SPDX-License-Identifier: MIT */
/*
 * sal_drivers.h - annotations of drivers, which some headers and libraries have, too.
 */
#ifndef WINCOMPAT_SAL_DRIVERS_H
#define WINCOMPAT_SAL_DRIVERS_H

#define __drv_aliasesMem
#define __drv_allocatesMem(...)
#define __drv_arg(...)
#define __drv_at(...)
#define __drv_deref(...)
#define __drv_dispatchType(...)
#define __drv_dispatchType_other
#define __drv_formatString(...)
#define __drv_freesMem(...)
#define __drv_in(...)
#define __drv_in_deref(...)
#define __drv_maxIRQL(...)
#define __drv_nonConstant
#define __drv_out(...)
#define __drv_out_deref(...)
#define __drv_raisesIRQL(...)
#define __drv_requiresIRQL(...)
#define __drv_restoresIRQL
#define __drv_restoresIRQLGlobal(...)
#define __drv_savesIRQL
#define __drv_savesIRQLGlobal(...)
#define __drv_setsIRQL(...)
#define __drv_useCancelIRQL
#define __drv_valueIs(...)
#define __drv_when(...)
#define __internal_kernel_driver
#define __kernel_code
#define __kernel_driver
#define __user_code
#define __user_driver

#endif
