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
 * A family whose payload is one JSON document in a few files at the root of the commit's tree. Everything here is pure: no
 * disk, no clock, no request.
 */
export interface DocumentDefinition extends Pick<
  Family,
  'name' | 'folder' | 'roles' | 'flagNames' | 'aliases' | 'mayEmbed' | 'guardFlag' | 'ownsFile'
> {
  /** The file that holds the members of `data`, as sentences about a push name it. */
  readonly file: string
  /** Its family bounds how many keys it has; of any other a commit brings `maxDocumentBytes` at most. */
  readonly boundedBy?: 'keys'
  /**
   * Writes what of the data lies in folders, onto the root of the parent's tree; other files may lie there, too. What came from another
   * revision is named as in its root. Answers what is left for `encode`, and the entries of all folders that satisfy `ownsFile`.
   */
  setApart?(target: ObjectReader & ObjectSink, data: JsonObject, from: ApartFrom): Promise<SetApart>
  /** The files that hold a payload, in the root, texts first: JSON is laid out in the room that they leave. Their paths all satisfy `ownsFile`. */
  encode(data: JsonObject): readonly PayloadFile[]
  /**
   * The payload in a tree, undefined if the tree holds none. Calls `read` only with paths that satisfy `ownsFile`, or lie in a folder that
   * does; it answers undefined where there is no file. Refuses with `damaged_repository` what is there and cannot be read, and JSON of more than `maxValues` values.
   */
  decode(read: FileReader, maxValues?: number): Promise<JsonObject | undefined>
  /** Of the bytes of `file`: the other files that `decode` reads, and how many times each stands in the document. */
  filesBeside?(main: Buffer): ReadonlyMap<string, number>
  /** The files in the root that `decode` reads of this document; without this it is `file` alone. */
  rootFiles?(data: JsonObject | undefined): readonly string[]
  /** Has documents that are too large for the server's own thread worked on in another; without it there are none. */
  readonly thread?: DocumentThread
  /** What who pushes a file should know of it, though it is taken as it is. */
  fileWarnings?(path: string, bytes: Buffer): readonly Warning[]
  accept(data: Json, context: PayloadContext): AcceptedDocument | Promise<AcceptedDocument>
  applyDelta(base: JsonObject | undefined, delta: Json, context: PayloadContext): AcceptedDocument
  flags(data: JsonObject | undefined): Readonly<Record<string, boolean>>
  /** How two revisions' documents are merged, beyond by key. */
  readonly mergeRules?: MergeRules
  pins?(data: JsonObject): readonly Pin[]
  texts?(data: JsonObject): readonly PlacedText[]
  present(
    data: JsonObject,
    context: Pick<PresentContext, 'servicesBase' | 'revisionId' | 'versionType'>,
  ): JsonObject
}

/** Reads a file of a payload. It is the text at these JSON Pointers of the document; without any it stands in the document once. */
export type FileReader = (path: string, pointers?: readonly string[]) => Promise<Buffer | undefined>

/** What names are taken from. */
export interface ApartFrom {
  /** The entries of the root that is written onto. */
  readonly before: readonly TreeEntry[]
  readonly parent: NamedAfterDocument | undefined
  readonly other: NamedAfterDocument | undefined
  /** A document that unfolds to more is not compared. */
  readonly maxBytes: number
}

/** A revision that files are named after. */
export interface NamedAfterDocument {
  /** Of its root. */
  readonly entries: readonly TreeEntry[]
  /** Its document, and its texts' files by JSON Pointer, where they need not be read. */
  readonly known?: KnownDocument | undefined
}

export interface KnownDocument {
  readonly data: JsonObject
  readonly files: ReadonlyMap<string, string>
}

/** Data of which something lies in folders. */
export interface SetApart {
  /** What is left of it. */
  readonly data: JsonObject
  /** Of the root: the folders, with all that lies in them. */
  readonly entries: readonly TreeEntry[]
  /** By JSON Pointer of what was set apart, its path. */
  readonly files: ReadonlyMap<string, string>
  /** Bytes of these files. */
  readonly size: number
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
        // It was told of when it came.
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
      // What a side has was accepted, and nobody asks for more of merge bases, or of what is not to be stored.
      const isKnown = data === undefined || data === documents.target || data === documents.source
      if (isKnown || merging.isOfBases || merging.hasConflicts)
        return { payload: data as JsonObject | undefined, warnings: [], isPayload }
      const { data: payload, warnings } = await definition.accept(data, { loc: ['data'], servicesBase })
      return { payload, warnings, isPayload }
    },
  }
}

/** The document that a payload of such a family is. Refuses one that is too large for the server's own thread (`document_too_large`). */
export function documentOf(payload: Payload): JsonObject {
  if (payload instanceof LargeDocument) throw payload.refusal()
  return payload as JsonObject // a document family makes no other payloads, and the engine hands it only its own
}

/** Memory that decoded JSON takes, about, for each byte of its text. */
const MEMORY_PER_BYTE = 3

/** How a document is read from its files. */
interface Reading extends Pick<ReadContext, 'address' | 'signal'> {
  readonly limits: DocumentLimits
  readonly maxValues?: number
  /** What lies in folders is left empty. */
  readonly isOutline?: boolean
  /** Told of each file. */
  readonly onFile?: (path: string, bytes: Buffer) => Promise<void>
}

/** A document that was read, and the files of its texts by JSON Pointer where it has any in files. */
interface ReadDocument {
  readonly data: Payload | undefined
  readonly size: number
  readonly files: ReadonlyMap<string, string> | undefined
}

/**
 * The document in a tree, and the bytes that it unfolds to, each text as often as it stands in it: they are counted before it is built. One
 * that is larger than what a commit may bring is opened in a thread; refuses one of more than `limits.maxBytes`.
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
    // A file may be asked for twice.
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
    // It is held for the names of its files.
    return { data, size: BYTES_PER_NAME * data.files.size, files: undefined }
  }
}

const BYTES_PER_NAME = 100

/** A document that is being read is larger than what is read here. */
class TooLarge extends Error {
  override readonly name = 'TooLarge'
}

function namedAfter({ entries, payload, files }: Partial<NamedAfter> = {}): NamedAfterDocument | undefined {
  return entries && { entries, known: payload && files && { data: documentOf(payload), files } }
}

/** Most bytes of what a commit brings. */
function mostBytes(
  { boundedBy }: DocumentDefinition,
  { maxBytes, maxDocumentBytes }: DocumentLimits,
): number {
  return boundedBy === 'keys' ? maxBytes : Math.min(maxBytes, maxDocumentBytes)
}

/** The text of data without white space between its values; refuses what is larger than what a commit may bring. */
async function textWithin(
  { name, boundedBy }: DocumentDefinition,
  data: Json,
  maxBytes: number,
): Promise<string | Buffer> {
  // What is bounded by its keys may be many times as large as a document.
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

/** Throws an Error that names the file if `work` refuses the document: a commit over REST could not have brought it. */
async function asErrorOf({ file }: DocumentDefinition, work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Refusal) || NOT_OF_THE_FILE.has(error.code)) throw error
    throw new Error(`${file}: ${error.message}. ${REMEDY}`, { cause: error })
  }
}

/** What is not about what the file holds. */
const NOT_OF_THE_FILE: ReadonlySet<RefusalCode> = new Set(['damaged_repository', 'overloaded'])

const REMEDY = 'Put it right in that commit (git commit --amend, or git rebase -i for an older one)'
