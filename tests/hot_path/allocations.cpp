#include "hot_path/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

walrelay::test::allocations so_far;

void* counted(std::size_t bytes) {
    ++so_far.count;
    so_far.bytes += bytes;
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}

void* counted(std::size_t bytes, std::align_val_t alignment) {
    ++so_far.count;
    so_far.bytes += bytes;
    const auto step = static_cast<std::size_t>(alignment);
    if (void* const memory = std::aligned_alloc(step, (bytes + step - 1) / step * step)) {
        return memory;
    }
    throw std::bad_alloc();
}

}  // namespace

namespace walrelay::test {

allocations allocated_so_far() {
    return so_far;
}

}  // namespace walrelay::test

// The other forms of new and delete come down to these.

void* operator new(std::size_t bytes) {
    return counted(bytes);
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return counted(bytes, alignment);
}

void operator delete(void* memory) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}

void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
    std::free(memory);
}
