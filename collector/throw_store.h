#pragma once

#include <typeinfo>

namespace mishap::collector::detail {

using Destructor = void (*)(void*);

/// Called by the hook for every throw: takes the throw site while capture is
/// on. Gives the destructor that the exception must be thrown with, which
/// forgets the site when the object dies, so that an object that is later made
/// at the same address never inherits it. `return_address` is that of the
/// hook's caller. Signal-safe once the unwinder is warm; does not allocate,
/// never waits.
Destructor record_throw(void* object, const std::type_info* type,
                        Destructor destroy,
                        const void* return_address) noexcept;

}  // namespace mishap::collector::detail
