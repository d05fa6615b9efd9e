import { getKey, isJsonObject, type JsonObject } from '../../json/json.ts'
import type { PayloadFile } from '../../versioning/family/document-family.ts'
import { decodeDocument } from '../documents/decode-document.ts'
import { readReferencesInTurns } from './references-map.ts'

/** The file that is the map of pins (interface 15.5). */
export const REFERENCES_FILE = 'references.json'

/** Whether a path of a commit's tree is the one that the functions below write and read. */
export function isEnvironmentFile(path: string): boolean {
  return path === REFERENCES_FILE
}

/** The file that holds an environment's data (interface 15.5): `references.json` is the map of pins itself. */
export function encodeEnvironment(data: JsonObject): readonly PayloadFile[] {
  const references = getKey(data, 'references')
  return [{ path: REFERENCES_FILE, content: isJsonObject(references) ? references : {} }]
}

/**
 * The data in a commit's tree, undefined if there is no `references.json`. A map that a commit over REST could not have brought is
 * refused with `damaged_repository` naming the places.
 */
export async function decodeEnvironment(
  read: (path: string) => Promise<Buffer | undefined>,
  maxValues?: number,
): Promise<JsonObject | undefined> {
  const bytes = await read(REFERENCES_FILE)
  if (bytes === undefined) return undefined
  return {
    references: await decodeDocument(
      REFERENCES_FILE,
      bytes,
      'a map of references',
      readReferencesInTurns,
      maxValues,
    ),
  }
}
