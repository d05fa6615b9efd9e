import { Refusal } from '../../errors.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import { patchInSlices } from '../../json/diff/json-patch.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import type { Pin } from '../reference.ts'
import { diffFiles } from '../revisions/diff/diff-revisions.ts'
import type { DocumentLimits } from './document-limits.ts'
import type { Family, Payload, PayloadContext, PresentContext, Warning } from './family.ts'
import type { ObjectReader } from './tree-files.ts'
import { readBytes, writeFile } from './tree-files.ts'
import { jsonFileBytes } from './write-json-file.ts'

/**
 * A family whose payload is one JSON document in a few files at the root of the commit's tree. Everything here is pure: no
 * disk, no clock, no request.
 */
export interface DocumentDefinition extends Pick<
  Family,
  'name' | 'folder' | 'roles' | 'flagNames' | 'aliases' | 'mayEmbed' | 'guardFlag' | 'ownsFile'
> {
  /** The file that holds the members of `data`, as sentences about a push name it. */
  readonly file: string
  /** The files that hold a payload. Their paths all satisfy `ownsFile`. */
  encode(data: JsonObject): readonly PayloadFile[]
  /**
   * The payload in a tree, undefined if the tree holds none. Calls `read` only with paths that satisfy `ownsFile`.
   * Refuses with `damaged_repository` what is there and cannot be read, and JSON of more than `maxValues` values.
   */
  decode(read: (path: string) => Buffer | undefined, maxValues?: number): Promise<JsonObject | undefined>
  accept(data: Json, context: PayloadContext): AcceptedDocument
  applyDelta(base: JsonObject | undefined, delta: Json, context: PayloadContext): AcceptedDocument
  flags(data: JsonObject | undefined): Readonly<Record<string, boolean>>
  pins?(data: JsonObject): readonly Pin[]
  present(
    data: JsonObject,
    context: Pick<PresentContext, 'servicesBase' | 'revisionId' | 'versionType'>,
  ): JsonObject
}

/** One file of a payload: `path` relative to the root of the commit's tree; it holds a text, or an object as JSON. */
export interface PayloadFile {
  readonly path: string
  readonly content: Buffer | JsonObject
}

/** A document that may be stored, and what its sender should know about it. */
export interface AcceptedDocument {
  readonly data: JsonObject
  readonly warnings: readonly Warning[]
}

/** Makes a family of its definition. */
export function documentFamily(definition: DocumentDefinition): Family {
  const { name, folder, roles, flagNames, aliases, mayEmbed = false, guardFlag, ownsFile } = definition
  const { encode, flags, pins } = definition
  return {
    name,
    folder,
    roles,
    flagNames,
    ...(aliases ? { aliases } : {}),
    mayEmbed,
    ...(guardFlag === undefined ? {} : { guardFlag }),
    ...(pins ? { pins: (payload: Payload) => pins(documentOf(payload)) } : {}),
    ownsFile,
    write: async (target, payload, _before, limits) => {
      const entries: TreeEntry[] = []
      let size = 0
      for (const file of encode(documentOf(payload))) {
        const bytes = await bytesOf(file, limits)
        entries.push(writeFile(target, file.path, bytes))
        size += bytes.length
      }
      return { entries, stored: { payload, size: decodedSize(size) } }
    },
    read: async (source, entries) => {
      const files = await filesOf(definition, source, entries)
      const data = await decodeFiles(definition, files)
      const size = [...files.values()].reduce((sum, it) => sum + it.length, 0)
      return data && { payload: data, size: decodedSize(size) }
    },
    check: async (source, entries, _before, context) => {
      const files = await filesOf(definition, source, entries)
      const data = await decodeFiles(definition, files, context.limits?.maxValues)
      if (data) assertAcceptable(definition, data, context)
    },
    accept: (data, context) => accepted(definition.accept(data, context)),
    applyDelta: async (base, delta, context) =>
      accepted(definition.applyDelta(base && documentOf(base), delta, context)),
    mayRebase: () => false,
    warnings: (payload, context) => definition.accept(documentOf(payload), context).warnings,
    flags: (payload) => flags(payload && documentOf(payload)),
    present: async (payload, context) => ({ data: definition.present(documentOf(payload), context) }),
    diff: async (base, head, { signal }) => ({
      diff: {
        patch: await patchInSlices(
          base.payload && documentOf(base.payload),
          head.payload && documentOf(head.payload),
          signal,
        ),
        files: await diffFiles(base, head, { ownsFile, signal }),
      },
    }),
  }
}

/** The document that a payload of such a family is. */
export function documentOf(payload: Payload): JsonObject {
  return payload as JsonObject // a document family makes no other payloads, and the engine hands it only its own
}

/** Decoded JSON takes about three times the memory of its text. */
function decodedSize(bytes: number): number {
  return 3 * bytes
}

type Files = ReadonlyMap<string, Buffer>

async function filesOf(
  { ownsFile }: DocumentDefinition,
  source: ObjectReader,
  entries: readonly TreeEntry[],
): Promise<Files> {
  const files = new Map<string, Buffer>()
  for (const entry of entries) {
    if (isFile(entry) && ownsFile(entry.name))
      files.set(entry.name, await readBytes(source, entry.oid, 'blob'))
  }
  return files
}

function decodeFiles(
  { decode }: DocumentDefinition,
  files: Files,
  maxValues?: number,
): Promise<JsonObject | undefined> {
  return decode((path) => files.get(path), maxValues)
}

async function bytesOf({ path, content }: PayloadFile, limits: DocumentLimits): Promise<Buffer> {
  const bytes = Buffer.isBuffer(content) ? content : await jsonFileBytes(content, limits)
  if (bytes.length <= limits.maxBytes) return bytes
  throw new Refusal(
    'limit_exceeded',
    `${path} would have ${bytes.length} bytes; at most ${limits.maxBytes} are stored in a file. Make the data smaller.`,
    { details: { limit_bytes: limits.maxBytes } },
  )
}

/** Throws an Error that names the file if a commit over REST could not have brought the document. */
function assertAcceptable(
  { accept, file }: DocumentDefinition,
  data: JsonObject,
  context: PayloadContext,
): void {
  try {
    accept(data, context)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    throw new Error(`${file}: ${error.message}. ${REMEDY}`, { cause: error })
  }
}

const REMEDY = 'Put it right in that commit (git commit --amend, or git rebase -i for an older one)'

function accepted({ data, warnings }: AcceptedDocument) {
  return { payload: data, warnings }
}

function isFile({ mode }: TreeEntry): boolean {
  return mode === '100644' || mode === '100755'
}
