# Writes OUTPUT, the C++ source that holds what report.html is made of: the files STYLE and SCRIPT
# of this folder, and CHART_LIBRARY (Chart.js as packaged; empty where it is missing). Run at build
# time by `cmake -D... -P`.

# hash_of(VARIABLE TEXT): SHA-256 in base64, as a Content-Security-Policy names a script.
function(hash_of variable text)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  string(SHA256 digits "${text}")
  set(digits "${digits}00")
  set(out "")
  foreach(at RANGE 0 60 6)
    string(SUBSTRING "${digits}" ${at} 6 three_bytes)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${three_bytes} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND out "${letter}")
    endforeach()
  endforeach()
  # 32 bytes are two thirds of the last group: its fourth letter is padding.
  string(SUBSTRING "${out}" 0 43 out)
  set(${variable} "${out}=" PARENT_SCOPE)
endfunction()

# bytes_of(VARIABLE TEXT): the elements of an array.
function(bytes_of variable text)
  string(HEX "${text}" digits)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${digits}")
  set(${variable} "${bytes}" PARENT_SCOPE)
endfunction()

file(READ "${STYLE}" style)
file(READ "${SCRIPT}" script)
set(library "")
if(CHART_LIBRARY)
  file(READ "${CHART_LIBRARY}" library)
  # A browser would turn the one into line breaks, and ask for the file that the other names.
  string(REPLACE "\r" "" library "${library}")
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" library "${library}")
endif()
foreach(text IN ITEMS "${script}" "${library}")
  string(TOLOWER "${text}" text)
  if(text MATCHES "</script|<!--")
    message(FATAL_ERROR "a script that holds </script or <!-- cannot stand in a page")
  endif()
endforeach()

set(source "// Made by workload/report/page/embed.cmake.\n")
string(APPEND source "#include \"workload/report/page_files.h\"\n\n")
string(APPEND source "namespace workload {\nnamespace {\n\n")
foreach(name style script library)
  bytes_of(bytes "${${name}}")
  hash_of(${name}_hash "${${name}}")
  # An array must not be empty: one byte more that nobody reads.
  string(APPEND source "constexpr unsigned char k_${name}[] = {${bytes}0};\n")
endforeach()
string(APPEND source "
template <size_t size_bytes>
std::string_view text_of_page(const unsigned char (&bytes)[size_bytes]) {
  return {reinterpret_cast<const char*>(bytes), size_bytes - 1};
}

}  // namespace

PageFiles page_files() {
  return {text_of_page(k_style), {text_of_page(k_script), \"${script_hash}\"},
          {text_of_page(k_library), \"${library_hash}\"}};
}

}  // namespace workload
")
file(WRITE "${OUTPUT}" "${source}")
