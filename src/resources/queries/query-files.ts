import type { JsonObject } from '../../json/json.ts'
import type { PayloadFile } from '../../versioning/family/document-family.ts'
import { decodeDocument } from '../documents/decode-document.ts'
import { readQueryData } from './query-data.ts'

/** The file that is a query's data (interface 15.5). */
export const QUERY_DATA_FILE = 'data.json'

/** Whether a path of a commit's tree is the one that the functions below write and read. */
export function isQueryFile(path: string): boolean {
  return path === QUERY_DATA_FILE
}

/** The file that holds a query's data (interface 15.5): `data.json`. */
export function encodeQuery(data: JsonObject): readonly PayloadFile[] {
  return [{ path: QUERY_DATA_FILE, content: data }]
}

/**
 * The data in a commit's tree, undefined if there is no `data.json`. Data that a commit over REST could not have brought
 * is refused with `damaged_repository` naming the places.
 */
export async function decodeQuery(
  read: (path: string) => Promise<Buffer | undefined>,
  maxValues?: number,
): Promise<JsonObject | undefined> {
  const bytes = await read(QUERY_DATA_FILE)
  return bytes && decodeDocument(QUERY_DATA_FILE, bytes, "a query's data", readQueryData, maxValues)
}
