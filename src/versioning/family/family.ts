import type { GitObject, Oid, TreeEntry } from '../../git/objects/object.ts'
import type { SequentialPackReader } from '../../git/packs/sequential-pack-reader.ts'
import type { StagedPack } from '../../git/packs/pack-writer.ts'
import type { JsonStream } from '../../json/json-stream.ts'
import type { Json, JsonObject } from '../../json/json.ts'
import type { JsonText } from '../../json/stringify-json.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import type { CacheFile } from '../../storage/cache-file.ts'
import type { Merging, Sides } from '../merge/merging.ts'
import type { Windowing } from '../pagination.ts'
import type { Pin } from '../reference.ts'
import type { PlacedText } from '../texts/placed-text.ts'
import type { DocumentLimits } from './document-limits.ts'
import type { ObjectReader, ObjectSink } from './tree-files.ts'

/** A payload as the engine carries it about. Its family makes it, and nobody else looks inside. */
export type Payload = object

/**
 * All that a family of artifacts (workflows, testsets, environments, queries) tells the shared engine about itself.
 * The engine knows artifacts, variants and revisions; what a payload may hold, how it lies in a commit's tree and what
 * is derived from it is the family's. No clock and no request is known here, and of the disk only the objects handed in.
 */
export interface Family {
  /** Singular, also the prefix of envelope keys: `workflow`, `workflow_revision`. */
  readonly name: string
  /** The project's folder that holds the family's repositories: `workflows`. */
  readonly folder: string
  /** Flags that live on the artifact and are copied onto its revisions on read, in wire order. */
  readonly roles: readonly string[]
  /** Flags derived from a revision's payload, in wire order; they follow the roles. */
  readonly flagNames: readonly string[]
  /** Other singulars that references to its artifacts come under: `application`, `application_revision`. */
  readonly aliases?: readonly string[]
  /** Whether its payloads are documents that may embed others (interface 10.1). */
  readonly mayEmbed?: boolean
  /** The flag of an artifact that, while it is set, lets only those write to it who may deploy (interface 9.10). */
  readonly guardFlag?: string
  /** Whether a name in the root of a commit's tree is part of the payload. What is not is carried over by a commit. */
  ownsFile(name: string): boolean
  /** The folder of the root, if any, whose rows `check` counts: how many files there may be is the family's to say. */
  readonly rowsFolder?: string
  /** Writes a payload onto the root tree of the parent commit, whose entries are `before`. Refuses a payload past the limits. */
  write(
    target: PayloadTarget,
    payload: Payload,
    before: readonly TreeEntry[],
    limits: DocumentLimits,
    from?: WrittenFrom,
  ): Promise<WrittenPayload>
  /**
   * The payload that entries of a root tree hold, undefined if there is none. Throws an Error that says why if it does not
   * decode. Of an `outline` only the flags are asked for: what they do not depend on may be left out.
   */
  read(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    context?: ReadContext,
  ): Promise<StoredPayload | undefined>
  /**
   * Looks closer than `read` does at what a push brought: throws an Error that names the file if the entries of a root tree hold
   * what no commit over REST could have written. `before` are those of the parent commit, which were looked at already. Not
   * called when the payload's entries are as they were. Answers what the pusher should know of what is taken as it is.
   */
  check?(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    before: readonly TreeEntry[],
    context: PayloadContext,
  ): Promise<readonly Warning[] | void>
  /** The part of `check` that keeps reading in bounds: throws an Error if the payload unfolds to more than can be walked. */
  assertWalkable?(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    before: readonly TreeEntry[],
  ): Promise<void>
  /** A payload as a client sent it, made ready to store (a large one in slices); refuses with every problem at once. */
  accept(data: Json, context: PayloadContext): AcceptedPayload | Promise<AcceptedPayload>
  /** The payload that a delta makes of `base` (undefined: of nothing), made ready to store. */
  applyDelta(
    base: Payload | undefined,
    delta: Json,
    context: PayloadContext & { readonly target: PayloadTarget },
  ): Promise<AcceptedPayload>
  /** Whether a delta that names an older base may be applied to the latest revision all the same (interface 8.13). */
  mayRebase(delta: Json): boolean
  /** What the sender of a stored payload was told of it, worked out again. */
  warnings(payload: Payload, context: PayloadContext): readonly Warning[] | Promise<readonly Warning[]>
  /** A value for each of `flagNames`; undefined stands for a revision without a payload. */
  flags(payload: Payload | undefined): Readonly<Record<string, boolean>>
  /** The payload as a reader sees it: what is stored, and what is derived on read. */
  present(payload: Payload, context: PresentContext): Promise<PresentedPayload>
  /** The texts of a payload that people write, in order; a family without this has none. */
  texts?(payload: Payload): readonly PlacedText[]
  /** The references that a payload holds under keys. A family that has this is the one of environments. */
  pins?(payload: Payload): readonly Pin[]
  /** What tells two revisions apart, as `revisions/diff` answers it (interface 6.1, 8.24). */
  diff(base: DiffSide, head: DiffSide, asked: DiffRequest): Promise<PresentedDiff>
  /**
   * Makes one payload of what two revisions made of a third one's, ready to store. What both changed goes to `merging`; while a conflict is
   * left open, what comes of it is not to be stored. Refuses a payload that no commit could have brought.
   */
  merge(sides: Sides<MergeSide>, merging: Merging, context: MergeContext): Promise<MergedPayload>
}

/** How a payload is read, and where. */
export interface ReadContext {
  readonly part?: 'outline' | undefined
  readonly limits?: DocumentLimits
  /** Where the repository can be cloned, for who is refused. */
  readonly address?: string | undefined
  /** Comes when nobody waits for it any more: what has not begun by then does not. */
  readonly signal?: AbortSignal | undefined
}

/** A revision, or what stands for none, that is merged. */
export interface MergeSide extends Pick<DiffSide, 'payload' | 'entries'> {}

export interface MergeContext extends Pick<PayloadContext, 'servicesBase'> {
  /** Where the sides are read from, and the payload will be written to. */
  readonly target: PayloadTarget
  readonly slice: TimeSlice
}

export interface MergedPayload extends Pick<AcceptedPayload, 'warnings'> {
  readonly payload: Payload | undefined
  /** Whether a file or folder of a side, by its path from the root, is of its payload. */
  readonly isPayload: Sides<(path: string) => boolean>
}

/** Where a payload is written: objects one by one, or many at once in a pack that is ready. */
export interface PayloadTarget extends ObjectSink, ObjectReader {
  /** The artifact that the payload becomes a revision of. */
  readonly artifactId: string
  /** The objects with these ids, in order; what is missing is undefined. Past `enough` bytes the others may be left out. */
  readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<readonly (GitObject | undefined)[]>
  /** The ids of the objects on the disk that start with 4 to 40 hex digits. */
  startingWith(hexPrefix: string): Promise<readonly Oid[]>
  /** The commits that tags and branches name. */
  tips(): readonly Oid[]
  /** Makes the objects of the pack part of what is written. */
  adopt(pack: StagedPack): void
  /** A derived file of the repository; there is none while that is being made. */
  derived?(name: string): CacheFile
}

/** What is known of where a payload comes from, as far as files are named by it. */
export interface WrittenFrom {
  /** What the parent commit holds, where it is known without being read. */
  readonly parent?: Partial<StoredPayload> | undefined
  /** The root of another revision that something came from: files are named as there where the parent has none. */
  readonly other?: readonly TreeEntry[] | undefined
}

/** A payload that was written: its entries of the root tree, and what `read` will answer for them. */
export interface WrittenPayload {
  readonly entries: readonly TreeEntry[]
  readonly stored: StoredPayload | undefined
  /** Of a family of rows: what became of the parent's, undefined if that is not known without comparing all of them. */
  readonly changedRows?: () => ChangedRows | undefined | Promise<ChangedRows | undefined>
  /** Of a family of rows: what became of rows that were sent and are none of the revision's. */
  readonly met?: MetRows | undefined
}

/** How many rows a write changed. One that gave way to another row in its place is changed. */
export interface ChangedRows {
  readonly added: number
  readonly changed: number
  readonly removed: number
}

/** How many of the rows that were sent together are one with another that they equal, and how many gave way to a later one of their identity. */
export interface MetRows {
  readonly collapsed: number
  readonly replaced: number
}

/** A decoded payload. */
export interface StoredPayload {
  readonly payload: Payload
  /** Bytes of memory that it takes, roughly. */
  readonly size: number
  /** Of a document whose family puts texts into files: those files, by the texts' JSON Pointers. */
  readonly files?: ReadonlyMap<string, string> | undefined
}

/** Where a payload came from: `loc` is its place in the request, for the refusals that name one. */
export interface PayloadContext {
  readonly loc: readonly (string | number)[]
  /** `<PUBLIC_URL>/services`, without a slash at the end. */
  readonly servicesBase: string
  /**
   * It comes from clients of the existing service (`COMPAT`, interface 2.30): a delta that removes what is not there changes nothing, and unknown
   * keys of a testcase's record are ignored.
   */
  readonly isExisting?: boolean
  /** Of what a commit brings, where it is not known already that it is within them. */
  readonly limits?: DocumentLimits
  /** The JSON text of what was sent, without white space between its values, where it is at hand. */
  readonly text?: string | Buffer | undefined
}

/** Which revision a payload is shown for, and what its reader asked for. */
export interface PresentContext {
  readonly servicesBase: string
  readonly artifactId: string
  readonly revisionId: string
  readonly source: ObjectReader
  readonly asked: Reading
  /** How versions inside a payload are shown (interface 4.5); numbers unless it says otherwise. */
  readonly versionType?: 'number' | 'string' | undefined
  /** Comes when nobody waits for it any more: what has not begun by then does not. */
  readonly signal?: AbortSignal | undefined
}

/** What a reader may ask of a payload: members of the request that are flags, and which part of it. */
export interface Reading {
  readonly flags: Readonly<Record<string, boolean | undefined>>
  readonly windowing?: Windowing | undefined
}

/** The reader who asks for nothing in particular. */
export const PLAIN_READING: Reading = { flags: {} }

/** A payload for a reader: whole, or read while it is written out; and where to go on if it is a part. */
export interface PresentedPayload {
  readonly data: JsonObject | JsonText | JsonStream | undefined
  readonly windowing?: object | undefined
  /** How much there is on all parts together, where that was asked. */
  readonly total?: number | undefined
}

/** One side of a diff. */
export interface DiffSide {
  readonly artifactId: string
  readonly source: ObjectReader
  readonly payload: Payload | undefined
  /** Of the commit's root. */
  readonly entries: readonly TreeEntry[]
}

/** Which part of a diff is asked for, and who waits for it. */
export interface DiffRequest {
  readonly windowing?: Windowing | undefined
  /** Nobody does any more. */
  readonly signal?: AbortSignal | undefined
}

/** The body of a diff, beside `count`. */
export interface PresentedDiff {
  readonly diff: object
  readonly windowing?: object | undefined
}

/** A payload that may be stored, and what its sender should know about it. */
export interface AcceptedPayload {
  readonly payload: Payload
  readonly warnings: readonly Warning[]
}

/** Something accepted that deserves a look: a stable code, a sentence, and the path inside the payload it is about. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly target?: readonly (string | number)[]
}
