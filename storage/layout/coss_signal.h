// Waiting for something in a coss store to change.
#pragma once

#include "storage/layout/change_signal.h"

namespace storage {

using CossSignal = ChangeSignal;

}  // namespace storage
