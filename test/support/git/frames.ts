import { readSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'

/** Writes a value (JSON, or buffers in it) to a pipe, behind its length in four bytes. */
export function writeFrame(pipe: number, value: unknown): void {
  const body = serialize(value)
  const frame = Buffer.alloc(4 + body.length)
  frame.writeUInt32LE(body.length)
  frame.set(body, 4)
  for (let written = 0; written < frame.length;) written += writeSync(pipe, frame, written)
}

/** Waits for the next value that `writeFrame` wrote; undefined if whoever wrote has ended. */
export function readFrame(pipe: number): unknown {
  const head = readBytes(pipe, 4)
  const body = head && readBytes(pipe, head.readUInt32LE())
  return body && deserialize(body)
}

function readBytes(pipe: number, count: number): Buffer | undefined {
  const bytes = Buffer.alloc(count)
  for (let read = 0; read < count;) {
    const more = readSync(pipe, bytes, read, count - read, null)
    if (more === 0) return undefined
    read += more
  }
  return bytes
}
