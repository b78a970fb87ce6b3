// Where the running program lies: others are looked for beside it.
#pragma once

#include <filesystem>

namespace storage {

/// Keeps the name that the program was called by; `main` calls it first. Where the kernel says
/// where a program lies, the name is not needed.
void note_own_program(const char* called_by);

/// The program's file, absolute and without links; empty where it is not known. Any thread.
std::filesystem::path own_program();

}  // namespace storage
