import { TimeSlice } from '../../base/scheduling.ts'
import { Refusal, type RefusalCode } from '../../errors.ts'
import type { TreeEntry } from '../../git/objects.ts'
import { patchInSlices } from '../../base/diff.ts'
import { type Json, type JsonObject, printHeavy, JsonText } from '../../base/json.ts'
import type { PlacedText } from '../texts/placed-text.ts'
import type { MergeRules } from '../merge/merge-values.ts'
import { mergeValues } from '../merge/merge-values.ts'
import { eachSide } from '../merge/merging.ts'
import type { Pin } from '../store/reference.ts'
import { diffFiles } from '../revisions/diff-revisions.ts'
import type { DocumentLimits } from './document-limits.ts'
import { DOCUMENT_LIMITS } from './document-limits.ts'
import type {
  Family,
  NamedAfter,
  Payload,
  PayloadContext,
  PresentContext,
  ReadContext,
  Warning,
} from './family.ts'
import type { DocumentThread } from './large-document.ts'
import { LargeDocument, tooLargeToRead } from './large-document.ts'
import {
  FolderTree,
  jsonFileBytes,
  jsonWithin,
  type ObjectReader,
  type ObjectSink,
  writeFile,
} from './tree-files.ts'

/**
 * The definition of a family whose payload is one JSON document, stored in a few files at the root of a commit's tree. All of its functions are
 * pure: no disk, no clock, no request.
 */
export interface DocumentDefinition extends Pick<
  Family,
  'name' | 'folder' | 'roles' | 'flagNames' | 'aliases' | 'mayEmbed' | 'guardFlag' | 'ownsFile'
> {
  /** The file with the members of `data`; sentences about a push name it. */
  readonly file: string
  /** Whether the number of its keys is limited by the family. All other documents are limited to `maxDocumentBytes`. */
  readonly boundedBy?: 'keys'
  /**
   * Writes the parts of the data that have files in folders, onto the root of the parent's tree; other files may be there, too. Files of another
   * revision keep their names. Answers the rest of the data for `encode`, and the entries of all folders that satisfy `ownsFile`.
   */
  setApart?(target: ObjectReader & ObjectSink, data: JsonObject, from: ApartFrom): Promise<SetApart>
  /** The files of a payload in the root, texts first: their size decides how the JSON is laid out. All paths satisfy `ownsFile`. */
  encode(data: JsonObject): readonly PayloadFile[]
  /**
   * The payload in a tree; undefined if there is none. Calls `read` only with paths that satisfy `ownsFile`, or are in a folder that does; `read`
   * answers undefined if there is no file. Refuses unreadable files with `damaged_repository`, and JSON of more than `maxValues` values.
   */
  decode(read: FileReader, maxValues?: number): Promise<JsonObject | undefined>
  /** From the bytes of `file`: the other files that `decode` reads, and how often each is in the document. */
  filesBeside?(main: Buffer): ReadonlyMap<string, number>
  /** The files in the root that `decode` reads for this document; only `file` if this is missing. */
  rootFiles?(data: JsonObject | undefined): readonly string[]
  /** Moves work on large documents to another thread; without it there are no large documents. */
  readonly thread?: DocumentThread
  /** Warnings for the sender of a pushed file, which is accepted all the same. */
  fileWarnings?(path: string, bytes: Buffer): readonly Warning[]
  accept(data: Json, context: PayloadContext): AcceptedDocument | Promise<AcceptedDocument>
  applyDelta(base: JsonObject | undefined, delta: Json, context: PayloadContext): AcceptedDocument
  flags(data: JsonObject | undefined): Readonly<Record<string, boolean>>
  /** How documents of two revisions are merged, beyond merging by key. */
  readonly mergeRules?: MergeRules
  pins?(data: JsonObject): readonly Pin[]
  texts?(data: JsonObject): readonly PlacedText[]
  present(
    data: JsonObject,
    context: Pick<PresentContext, 'servicesBase' | 'revisionId' | 'versionType'>,
  ): JsonObject
}

/** Reads a file of a payload. Its text is at these JSON Pointers of the document; without pointers it is there once. */
export type FileReader = (path: string, pointers?: readonly string[]) => Promise<Buffer | undefined>

/** What names are taken from. */
export interface ApartFrom {
  /** The entries of the root onto which the payload is written. */
  readonly before: readonly TreeEntry[]
  readonly parent: NamedAfterDocument | undefined
  readonly other: NamedAfterDocument | undefined
  /** A document that becomes larger than this is not compared. */
  readonly maxBytes: number
}

/** A revision after whose files new files are named. */
export interface NamedAfterDocument {
  /** Of its root. */
  readonly entries: readonly TreeEntry[]
  /** Its document, and the files of its texts by JSON Pointer, if they are known without reading. */
  readonly known?: KnownDocument | undefined
}

export interface KnownDocument {
  readonly data: JsonObject
  readonly files: ReadonlyMap<string, string>
}

/** Data of which some parts are in folders. */
export interface SetApart {
  /** What is left of it. */
  readonly data: JsonObject
  /** The folders of the root, with all their contents. */
  readonly entries: readonly TreeEntry[]
  /** The path of each separate part, by its JSON Pointer. */
  readonly files: ReadonlyMap<string, string>
  /** Bytes of these files. */
  readonly size: number
}

/** One file of a payload: `path` is relative to the root of the commit's tree. It contains a text, or an object as JSON. */
export interface PayloadFile {
  readonly path: string
  readonly content: Buffer | JsonObject
}

/** A document that may be stored, and the warnings for its sender. */
export interface AcceptedDocument {
  readonly data: JsonObject
  readonly warnings: readonly Warning[]
}

/** Makes a family from its definition. */
export function documentFamily(definition: DocumentDefinition): Family {
  const { name, folder, roles, flagNames, aliases, mayEmbed = false, guardFlag, ownsFile } = definition
  const { encode, flags, pins, texts } = definition
  return {
    name,
    folder,
    roles,
    flagNames,
    ...(aliases ? { aliases } : {}),
    mayEmbed,
    ...(guardFlag === undefined ? {} : { guardFlag }),
    ...(pins ? { pins: (payload: Payload) => pins(documentOf(payload)) } : {}),
    ...(texts ? { texts: (payload: Payload) => texts(documentOf(payload)) } : {}),
    ownsFile,
    write: async (target, payload, before, limits, { other, parent } = {}) => {
      const document = documentOf(payload)
      const maxBytes = mostBytes(definition, limits)
      const from = { before, parent: namedAfter(parent), other: namedAfter(other), maxBytes }
      const apart = await definition.setApart?.(target, document, from)
      const entries: TreeEntry[] = [...(apart?.entries ?? [])]
      let size = apart?.size ?? 0
      for (const { path, content } of encode(apart?.data ?? document)) {
        const room = { maxBytes: maxBytes - size }
        const bytes = Buffer.isBuffer(content) ? content : jsonFileBytes(content, room)
        entries.push(writeFile(target, path, bytes))
        size += bytes.length
      }
      if (size > maxBytes)
        throw tooLarge(`As it is stored, the ${name}'s data would have ${size} bytes`, maxBytes)
      return { entries, stored: { payload, size: MEMORY_PER_BYTE * size, files: apart?.files } }
    },
    read: async (source, entries, { part, limits = DOCUMENT_LIMITS, address, signal } = {}) => {
      const reading = { limits, isOutline: part === 'outline', address, signal }
      const { data, size, files } = await readDocument(definition, source, entries, reading)
      return data && { payload: data, size: MEMORY_PER_BYTE * size, files }
    },
    check: async (source, entries, before, context) => {
      const { limits = DOCUMENT_LIMITS, servicesBase } = context
      const warnings: Warning[] = []
      const [now, earlier] = [new FolderTree(source, entries), new FolderTree(source, before)]
      const onFile = async (path: string, bytes: Buffer): Promise<void> => {
        const found = definition.fileWarnings?.(path, bytes) ?? []
        // The sender was warned when the revision was stored.
        if (found.length === 0 || (await now.at(path))?.oid === (await earlier.at(path))?.oid) return
        for (const warning of found) warnings.push(warning)
      }
      const { data } = await readDocument(definition, source, entries, {
        limits,
        maxValues: limits.maxValues,
        onFile,
      })
      await asErrorOf(definition, () =>
        data instanceof LargeDocument
          ? data.check(source, servicesBase)
          : data && definition.accept(documentOf(data), context),
      )
      return warnings
    },
    accept: async (data, context) => {
      const slice = new TimeSlice()
      const { limits } = context
      const text = limits && (await textWithin(definition, data, mostBytes(definition, limits)))
      await slice.pause()
      const { data: payload, warnings } = await definition.accept(data, { ...context, text })
      await slice.pause()
      return { payload, warnings }
    },
    applyDelta: async (base, delta, context) => {
      const { data: payload, warnings } = definition.applyDelta(base && documentOf(base), delta, context)
      return { payload, warnings }
    },
    mayRebase: () => false,
    warnings: async (payload, context) =>
      payload instanceof LargeDocument
        ? []
        : (await definition.accept(documentOf(payload), context)).warnings,
    flags: (payload) =>
      payload instanceof LargeDocument ? payload.flags : flags(payload && documentOf(payload)),
    present: async (payload, context) => {
      if (!(payload instanceof LargeDocument))
        return { data: definition.present(documentOf(payload), context) }
      const text = await payload.present(context)
      return { data: new JsonText(Buffer.from(text.buffer, text.byteOffset, text.length).toString()) }
    },
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
    merge: async (sides, merging, { servicesBase, slice }) => {
      const documents = eachSide(sides, ({ payload }) => payload && documentOf(payload))
      const data = await slice.run(mergeValues(documents, definition.mergeRules ?? {}, merging))
      const isPayload = eachSide(sides, ({ payload, files }) => {
        const inRoot = definition.rootFiles?.(payload && documentOf(payload)) ?? [definition.file]
        const paths = new Set([...inRoot, ...(files?.values() ?? [])])
        return (path: string) => paths.has(path)
      })
      // Both sides of a merge were accepted before, and nobody reads the warnings of merge bases.
      const isKnown = data === undefined || data === documents.target || data === documents.source
      if (isKnown || merging.isOfBases || merging.hasConflicts)
        return { payload: data as JsonObject | undefined, warnings: [], isPayload }
      const { data: payload, warnings } = await definition.accept(data, { loc: ['data'], servicesBase })
      return { payload, warnings, isPayload }
    },
  }
}

/** The document of a payload of such a family. Refuses one that is too large for the server's own thread (`document_too_large`). */
export function documentOf(payload: Payload): JsonObject {
  if (payload instanceof LargeDocument) throw payload.refusal()
  return payload as JsonObject // A document family makes no other payloads, and the engine passes only its own.
}

/** Approximate bytes of memory of decoded JSON for each byte of its text. */
const MEMORY_PER_BYTE = 3

/** How a document is read from its files. */
interface Reading extends Pick<ReadContext, 'address' | 'signal'> {
  readonly limits: DocumentLimits
  readonly maxValues?: number
  /** The parts in folders are left empty. */
  readonly isOutline?: boolean
  /** Told of each file. */
  readonly onFile?: (path: string, bytes: Buffer) => Promise<void>
}

/** A document that was read, and the files of its texts by JSON Pointer, if it has any. */
interface ReadDocument {
  readonly data: Payload | undefined
  readonly size: number
  readonly files: ReadonlyMap<string, string> | undefined
}

/**
 * The document in a tree, and its size with every text counted as often as it occurs: the size is computed before the document is built. A
 * document that is larger than a commit may bring is opened in a thread. Refuses one of more than `limits.maxBytes`.
 */
async function readDocument(
  definition: DocumentDefinition,
  source: ObjectReader,
  entries: readonly TreeEntry[],
  { limits, maxValues, isOutline = false, address, signal, onFile }: Reading,
): Promise<ReadDocument> {
  const { decode, file, thread } = definition
  const tree = new FolderTree(source, entries)
  const most = mostBytes(definition, limits)
  const unfolded = new Map<string, number>()
  const files = definition.setApart && new Map<string, string>()
  let size = 0
  const read: FileReader = async (path, pointers = []) => {
    const bytes = isOutline && path.includes('/') ? Buffer.alloc(0) : await tree.read(path)
    // A file may be read twice.
    size -= unfolded.get(path) ?? 0
    unfolded.set(path, (bytes?.length ?? 0) * Math.max(1, pointers.length))
    for (const pointer of pointers) files?.set(pointer, path)
    size += unfolded.get(path) ?? 0
    if (size > most) throw new TooLarge()
    if (bytes) await onFile?.(path, bytes)
    return bytes
  }
  try {
    return { data: await decode(read, maxValues), size, files }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    if (!thread || most >= limits.maxBytes) throw tooLargeToRead(most, address)
    const data = await LargeDocument.open({ thread, file, entries, limits, address }, source, signal)
    // It is kept for the names of its files.
    return { data, size: BYTES_PER_NAME * data.files.size, files: undefined }
  }
}

const BYTES_PER_NAME = 100

/** The document is larger than this thread reads. */
class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

function namedAfter({ entries, payload, files }: Partial<NamedAfter> = {}): NamedAfterDocument | undefined {
  return entries && { entries, known: payload && files && { data: documentOf(payload), files } }
}

/** The maximum size of a document in a commit, in bytes. */
function mostBytes(
  { boundedBy }: DocumentDefinition,
  { maxBytes, maxDocumentBytes }: DocumentLimits,
): number {
  return boundedBy === 'keys' ? maxBytes : Math.min(maxBytes, maxDocumentBytes)
}

/** The text of data without white space between its values. Refuses data that is larger than a commit may bring. */
async function textWithin(
  { name, boundedBy }: DocumentDefinition,
  data: Json,
  maxBytes: number,
): Promise<string | Buffer> {
  // A document that is limited by its keys may be many times larger than others.
  const text = boundedBy === 'keys' ? await printHeavy(data, { maxBytes }) : jsonWithin(data, maxBytes)
  if (text !== undefined) return text
  throw tooLarge(`The ${name}'s data has more than ${maxBytes} bytes`, maxBytes)
}

function tooLarge(what: string, most: number): Refusal {
  return new Refusal(
    'document_too_large',
    `${what}; a commit may bring ${most}. Make it smaller: rows belong in a testset, and what several share in a ` +
      `workflow of its own that they embed. The operator sets the bound (MAX_DOCUMENT_BYTES).`,
    { details: { limit_bytes: most } },
  )
}

/** Throws an Error that names the file if `work` refuses the document, which no commit over REST could have brought. */
async function asErrorOf({ file }: DocumentDefinition, work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refusal) || NOT_OF_THE_FILE.has(error.code)) throw error
    throw new Error(`${file}: ${error.message}. ${REMEDY}`, { cause: error })
  }
}

/** An error that is not about the file's content. */
const NOT_OF_THE_FILE: ReadonlySet<RefusalCode> = new Set(['damaged_repository', 'overloaded'])

const REMEDY = 'Put it right in that commit (git commit --amend, or git rebase -i for an older one)'
