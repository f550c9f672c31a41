local function queens(n)
  local found, columns, up, down = 0, {}, {}, {}
  local function place(row)
    if row > n then found = found + 1 return end
    for c = 1, n do
      if not (columns[c] or up[row + c] or down[row - c + n]) then
        columns[c], up[row + c], down[row - c + n] = true, true, true
        place(row + 1)
        columns[c], up[row + c], down[row - c + n] = nil, nil, nil
      end
    end
  end
  place(1)
  return found
end
local words = {}
for w in ("the quick brown fox jumps over the lazy dog "):rep(60):gmatch("%a+") do words[w] = (words[w] or 0) + 1 end
local order = {}
for w, n in pairs(words) do order[#order + 1] = string.format("%5d %s", n, w) end
table.sort(order)
local co = coroutine.wrap(function() for i = 1, 100 do coroutine.yield(i * i) end end)
local sum = 0
for _ = 1, 100 do sum = sum + co() end
print(queens(6), sum, table.concat(order, "; "), pcall(error, "x"))
