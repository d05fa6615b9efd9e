import type { TimeSlice } from '../scheduling/cooperative.ts'
import { isLight } from '../json/is-light.ts'
import { equalJson, getKey, isJsonArray, isJsonObject, type Json, keysOf, membersOf } from '../json/json.ts'

/** Whether two values are equal by `equalJson`; compares large ones in slices. */
export async function equalInSlices(a: Json, b: Json | undefined, slice: TimeSlice): Promise<boolean> {
  if (b === undefined) return false
  if (isLight(a) || isLight(b)) return equalJson(a, b)
  const [ofA, ofB] = [membersIn(a), membersIn(b)]
  if (ofA === undefined || ofB === undefined || isJsonArray(a) !== isJsonArray(b)) return equalJson(a, b)
  if (ofA.size !== ofB.size) return false
  let isEqual = true
  await slice.each(ofA.entries, ([key, member]) => {
    if (!isEqual) return undefined
    const other = ofB.get(key)
    if (isLight(member)) isEqual = other !== undefined && equalJson(member, other)
    else
      return equalInSlices(member, other, slice).then((equal) => {
        isEqual &&= equal
      })
    return undefined
  })
  return isEqual
}

interface Members {
  readonly size: number
  readonly entries: Iterable<readonly [string | number, Json]>
  get(key: string | number): Json | undefined
}

function membersIn(value: Json): Members | undefined {
  if (isJsonArray(value))
    return { size: value.length, entries: value.entries(), get: (index) => value[Number(index)] }
  if (!isJsonObject(value)) return undefined
  const size = value instanceof Map ? value.size : keysOf(value).length
  return { size, entries: membersOf(value), get: (key) => getKey(value, String(key)) }
}
