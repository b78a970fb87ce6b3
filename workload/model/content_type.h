// Kinds of content: what stands in the URLs of objects, and what their files are.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace workload {

/// What a file of a type is called and said to be.
struct FileKind {
  std::string_view extension;   ///< With its point; may be empty.
  std::string_view media_type;  ///< E.g. `image/gif`.
};

/// The name of a content type: a lower-case letter, then lower-case letters, digits and hyphens, 15
/// characters at most. Any such name is a type; a few have files and media types of their own, the
/// others are `application/octet-stream` without an extension. A small value, without memory of its
/// own, that compares in the order of the types' codes.
class ContentType {
 public:
  static constexpr size_t kNameLengthMax = 15;
  /// The types of PolyMix-4.
  static const ContentType kImage;
  static const ContentType kHtml;
  static const ContentType kDownload;
  static const ContentType kOther;

  /// `other`.
  constexpr ContentType() : ContentType(std::string_view("other")) {}
  /// The type of that name; nothing where the name is none.
  static constexpr std::optional<ContentType> named(std::string_view name) {
    if (!is_name(name)) return std::nullopt;
    return ContentType(name);
  }

  std::string_view name() const;
  /// A number that tells types apart, the same on every machine: 0 to 3 for the types of PolyMix-4
  /// in the order above, a hash of the name, never below 4, for all others.
  uint64_t code() const;
  /// One of the type's kinds of file; `percent` (0 to 99) chooses by their shares.
  FileKind file_kind(unsigned percent) const;

  friend bool operator==(const ContentType& left, const ContentType& right) = default;
  friend std::strong_ordering operator<=>(const ContentType& left, const ContentType& right) {
    const auto by_code = left.code() <=> right.code();
    return by_code != 0 ? by_code : left.name_ <=> right.name_;
  }

 private:
  explicit constexpr ContentType(std::string_view name) {
    for (size_t i = 0; i < name.size(); ++i) name_[i] = name[i];
  }
  static constexpr bool is_name(std::string_view name) {
    if (name.empty() || name.size() > kNameLengthMax) return false;
    if (name.front() < 'a' || name.front() > 'z') return false;
    for (const char c : name) {
      if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-') return false;
    }
    return true;
  }

  std::array<char, kNameLengthMax + 1> name_{};  ///< Zeros behind the name.
};

inline constexpr ContentType ContentType::kImage{std::string_view("image")};
inline constexpr ContentType ContentType::kHtml{std::string_view("html")};
inline constexpr ContentType ContentType::kDownload{std::string_view("download")};
inline constexpr ContentType ContentType::kOther{};

}  // namespace workload
