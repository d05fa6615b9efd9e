import { stringifyJson } from '../../src/base/json/stringify-json.ts'
import type { PayloadFile } from '../../src/registry/payload/document-family.ts'

/** The bytes of a small file of a payload, as a commit writes them. */
export function writtenFile({ content }: PayloadFile): Buffer {
  return Buffer.isBuffer(content) ? content : Buffer.from(`${stringifyJson(content, 2)}\n`)
}

/** Reads of a commit's tree that holds these files. */
export function readerOf(files: readonly PayloadFile[]): (path: string) => Promise<Buffer | undefined> {
  return async (path) => {
    const file = files.find((candidate) => candidate.path === path)
    return file && writtenFile(file)
  }
}
