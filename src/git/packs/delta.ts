import { CorruptObject } from '../objects/errors.ts'

/**
 * The object that `delta` makes out of `base` (gitformat-pack, "Deltified representation"): two sizes, then
 * instructions that copy a piece of the base or insert bytes of their own. Throws `CorruptObject` if anything does not fit.
 */
export function applyDelta(base: Buffer, delta: Buffer): Buffer {
  let at = 0
  const readSize = () => {
    let size = 0
    for (let factor = 1; ; factor *= 128) {
      const byte = byteAt(delta, at++)
      size += (byte & 127) * factor
      if (byte < 128) return size
    }
  }
  if (readSize() !== base.length) throw new CorruptObject('a delta was made for a base of another size')
  const size = readSize()
  // every byte of a delta copies at most 0xffffff bytes: a greater promise is a lie that must cost no memory
  if (size > delta.length * 0xffffff) throw new CorruptObject('a delta promises more than it can hold')
  const result = Buffer.allocUnsafe(size)
  let filled = 0
  while (at < delta.length) {
    const instruction = byteAt(delta, at++)
    if (instruction >= 128) {
      let offset = 0
      let length = 0
      if (instruction & 1) offset = byteAt(delta, at++)
      if (instruction & 2) offset += byteAt(delta, at++) * 0x100
      if (instruction & 4) offset += byteAt(delta, at++) * 0x10000
      if (instruction & 8) offset += byteAt(delta, at++) * 0x1000000
      if (instruction & 16) length = byteAt(delta, at++)
      if (instruction & 32) length += byteAt(delta, at++) * 0x100
      if (instruction & 64) length += byteAt(delta, at++) * 0x10000
      if (length === 0) length = 0x10000
      if (offset + length > base.length || filled + length > size) throw overrun()
      base.copy(result, filled, offset, offset + length)
      filled += length
    } else if (instruction > 0) {
      if (at + instruction > delta.length || filled + instruction > size) throw overrun()
      delta.copy(result, filled, at, at + instruction)
      at += instruction
      filled += instruction
    } else {
      throw new CorruptObject('a delta holds the reserved instruction 0')
    }
  }
  if (filled !== size) throw new CorruptObject('a delta ends before its object is complete')
  return result
}

function byteAt(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === undefined) throw new CorruptObject('a delta is cut short')
  return byte
}

function overrun(): CorruptObject {
  return new CorruptObject('a delta reaches past the end of its base or of its object')
}
