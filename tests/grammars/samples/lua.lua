#!/usr/bin/env lua
-- Keeps parcels in a depot.

-- Copyright of nobody.

local lfs = require("lfs")
local insert, concat = table.insert, table.concat

local CAPACITY = 20
local limit <const> = 3
local pending

--- Counts what was stored.
---@type integer
local counter = 0

local M = {}

M.version = "1.2"
vim.g.loaded_depot = 1

--- Opens the depot.
---@param path string
---@return boolean
function M.open(path)
  local unlocked = lfs.attributes(path)
  local function knock(times)
    return times > 2
  end
  local answer = function()
    return knock(3)
  end
  return unlocked and answer()
end

function M.shelf.row.place(parcel) end

function M:close()
  self.closed = true
  self.on_reopen = function()
    self.closed = false
  end
end

M.lock = function() end
M["lock-up"] = function() end
M.handlers["on store"] = function() end

local function first() return 1 end local function second() return 2 end

local weigh = function(parcel) return parcel.weight end

pending = function() end

function show(parcel) print(parcel) end

-- A parcel, which others may extend.
local Parcel = {}
Parcel.__index = Parcel

function Parcel.new(weight)
  return setmetatable({ weight = weight }, Parcel)
end

function Parcel:heavy()
  return self.weight > 10
end

Letter = setmetatable({}, { __index = Parcel })
-- Looks up what is missing.
Letter.__index = Letter

local Box = {
  open = function(self) end,
}
Box.__index = Box

local Crate = class("Crate", Box)
local Barrel = Object:extend()

local commands = {
  limit = 3,
  store = function(parcel) return parcel end,
  ["take back"] = function() end,
  nested = {
    deep = function() end,
    deeper = { deepest = function() end },
  },
  plain = { 1, 2 },
}

do
  local hidden = 1
  local function inside() end
end

if limit then
  function conditional() end
end

describe("depot", function()
  local depot

  before_each(function()
    depot = M.open("/tmp")
  end)

  it("stores parcels", function()
    local parcel = Parcel.new(1)
    assert.is_true(depot)
  end)

  pending("opens at night")
end)

local T = MiniTest.new_set()

T["open()"] = MiniTest.new_set()

T["open()"]["takes a path"] = function()
  assert(M.open("/"))
end

function TestDepot:testClose() end

return {
  M,
  --- Sets it up.
  setup = function(options)
    local merged = { on_open = function() end }
    return merged, options
  end,
}
