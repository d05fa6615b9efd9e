import type { GitObject, Oid, TreeEntry } from '../../git/objects.ts'
import type { SequentialPackReader, StagedPack } from '../../git/packs.ts'
import type { JsonStream, Json, JsonObject, JsonText } from '../../base/json.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import type { CacheFile } from '../../storage/files.ts'
import type { Merging, Sides } from '../merge/merging.ts'
import type { Windowing } from '../store/pagination.ts'
import type { Pin } from '../store/reference.ts'
import type { PlacedText } from '../texts/placed-text.ts'
import type { DocumentLimits } from './document-limits.ts'
import type { ObjectReader, ObjectSink } from './tree-files.ts'

/** A payload. Only its family creates it and reads its content. */
export type Payload = object

/**
 * What a family of artifacts (workflows, testsets, environments, queries) defines for the shared engine. The
 * engine knows artifacts, variants and revisions. The family knows the content of a payload, its files in a
 * commit's tree, and its derived data. A family uses no clock and no request, and reads only the objects
 * passed in.
 */
export interface Family {
  /** Singular, also the prefix of envelope keys: `workflow`, `workflow_revision`. */
  readonly name: string
  /** The project's folder with the family's repositories: `workflows`. */
  readonly folder: string
  /** Flags stored on the artifact and copied onto its revisions on read, in wire order. */
  readonly roles: readonly string[]
  /** Flags derived from a revision's payload, in wire order; they follow the roles. */
  readonly flagNames: readonly string[]
  /** Other singulars for references to its artifacts: `application`, `application_revision`. */
  readonly aliases?: readonly string[]
  /** Whether its payloads are documents that may embed others (interface 10.1). */
  readonly mayEmbed?: boolean
  /** The artifact flag that, while set, restricts writes to callers who may deploy (interface 9.10). */
  readonly guardFlag?: string
  /**
   * Whether a name in the root of a commit's tree belongs to the payload. A commit carries other files over.
   */
  ownsFile(name: string): boolean
  /** The root folder, if any, whose rows `check` counts: the family limits its number of files. */
  readonly rowsFolder?: string
  /**
   * Writes a payload into the root tree of the parent commit, whose entries are `before`. Refuses a payload
   * past the limits.
   */
  write(
    target: PayloadTarget,
    payload: Payload,
    before: readonly TreeEntry[],
    limits: DocumentLimits,
    from?: WrittenFrom,
  ): Promise<WrittenPayload>
  /**
   * Reads the payload from the entries of a root tree; undefined if there is none. Throws an Error with the
   * reason if it does not decode. An `outline` needs only the flags; anything else may be left out.
   */
  read(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    context?: ReadContext,
  ): Promise<StoredPayload | undefined>
  /**
   * Checks a push more strictly than `read`: throws an Error that names the file if the entries of a root
   * tree hold what no commit over REST could have written. `before` are the parent's entries, already
   * checked. Not called if the payload's entries are unchanged. Returns warnings for the pusher.
   */
  check?(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    before: readonly TreeEntry[],
    context: PayloadContext,
  ): Promise<readonly Warning[] | void>
  /**
   * The part of `check` that bounds later reads: throws an Error if the payload unfolds to more than can be
   * walked.
   */
  assertWalkable?(
    source: ObjectReader,
    entries: readonly TreeEntry[],
    before: readonly TreeEntry[],
  ): Promise<void>
  /** Converts a client's payload for storing, a large one in slices. Refuses with all problems at once. */
  accept(data: Json, context: PayloadContext): AcceptedPayload | Promise<AcceptedPayload>
  /** Applies a delta to `base` (undefined: no payload) and converts the result for storing. */
  applyDelta(
    base: Payload | undefined,
    delta: Json,
    context: PayloadContext & { readonly target: PayloadTarget },
  ): Promise<AcceptedPayload>
  /** Whether a delta for an older base may be applied to the latest revision (interface 8.13). */
  mayRebase(delta: Json): boolean
  /** Recomputes the warnings that the sender of a stored payload received. */
  warnings(payload: Payload, context: PayloadContext): readonly Warning[] | Promise<readonly Warning[]>
  /** A value for each of `flagNames`; undefined stands for a revision without a payload. */
  flags(payload: Payload | undefined): Readonly<Record<string, boolean>>
  /** The payload for a reader: stored and derived data. */
  present(payload: Payload, context: PresentContext): Promise<PresentedPayload>
  /** The texts of a payload that people write, in order; absent for a family without such texts. */
  texts?(payload: Payload): readonly PlacedText[]
  /** The references in a payload by key. Only the family of environments has this. */
  pins?(payload: Payload): readonly Pin[]
  /** The difference between two revisions, as `revisions/diff` answers it (interface 6.1, 8.24). */
  diff(base: DiffSide, head: DiffSide, asked: DiffRequest): Promise<PresentedDiff>
  /**
   * Merges two revisions of a common base into one payload, ready to store. `merging` decides conflicts; if
   * one stays open, the result must not be stored. Refuses a payload that no commit could have brought.
   */
  merge(sides: Sides<MergeSide>, merging: Merging, context: MergeContext): Promise<MergedPayload>
}

/** How and where a payload is read. */
export interface ReadContext {
  readonly part?: 'outline' | undefined
  readonly limits?: DocumentLimits
  /** The repository's clone address, for refusals. */
  readonly address?: string | undefined
  /** Aborted when the caller is gone; stops work that has not begun. */
  readonly signal?: AbortSignal | undefined
}

/** A revision to merge, or an empty side. */
export interface MergeSide extends Pick<DiffSide, 'payload' | 'entries'>, Pick<StoredPayload, 'files'> {}

export interface MergeContext extends Pick<PayloadContext, 'servicesBase'> {
  /** Where the sides are read from, and the payload will be written to. */
  readonly target: PayloadTarget
  readonly slice: TimeSlice
}

export interface MergedPayload extends Pick<AcceptedPayload, 'warnings'> {
  readonly payload: Payload | undefined
  /** Whether a path of a side belongs to its payload. */
  readonly isPayload: Sides<(path: string) => boolean>
}

/** Where a payload is written: objects one by one, or many at once as a finished pack. */
export interface PayloadTarget extends ObjectSink, ObjectReader {
  /** The artifact of the new revision. */
  readonly artifactId: string
  /** Reads objects in order; a missing one is undefined. Past `enough` bytes, the others may be left out. */
  readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<readonly (GitObject | undefined)[]>
  /** The ids of stored objects that start with 4 to 40 hex digits. */
  startingWith(hexPrefix: string): Promise<readonly Oid[]>
  /** The commits of tags and branches. */
  tips(): readonly Oid[]
  /** Adds the objects of a pack to the write. */
  adopt(pack: StagedPack): void
  /** A derived file of the repository; absent while the repository is being created. */
  derived?(name: string): CacheFile
}

/** A revision that new files are named after. Its payload and the files of its texts are set if known without reading them. */
export interface NamedAfter {
  /** The entries of its root tree. */
  readonly entries: readonly TreeEntry[]
  readonly payload?: Payload | undefined
  readonly files?: StoredPayload['files']
}

/** Where a payload comes from; determines the names of its files. */
export interface WrittenFrom {
  readonly parent?: NamedAfter | undefined
  /** Another source revision: its file names are used if the parent has none. */
  readonly other?: NamedAfter | undefined
}

/** A written payload: its entries in the root tree, and what `read` will return for them. */
export interface WrittenPayload {
  readonly entries: readonly TreeEntry[]
  readonly stored: StoredPayload | undefined
  /**
   * For a family of rows: the changes to the parent's rows, undefined if only a full comparison could tell.
   */
  readonly changedRows?: () => ChangedRows | undefined | Promise<ChangedRows | undefined>
  /** For a family of rows: what happened to sent rows that became no rows of the revision. */
  readonly met?: MetRows | undefined
}

/** How many rows a write changed. A row replaced by another at its place counts as changed. */
export interface ChangedRows {
  readonly added: number
  readonly changed: number
  readonly removed: number
  /** Rows that only have another place. */
  readonly moved?: number
}

/**
 * How many sent rows equal another one and were collapsed, and how many were replaced by a later row of the
 * same identity.
 */
export interface MetRows {
  readonly collapsed: number
  readonly replaced: number
}

/** A decoded payload. */
export interface StoredPayload {
  readonly payload: Payload
  /** Approximate memory use in bytes. */
  readonly size: number
  /** The files that hold texts of a document, by JSON Pointer. */
  readonly files?: ReadonlyMap<string, string> | undefined
}

/** Where a payload came from: `loc` is its place in the request, for refusals. */
export interface PayloadContext {
  readonly loc: readonly (string | number)[]
  /** `<PUBLIC_URL>/services`, without a trailing slash. */
  readonly servicesBase: string
  /**
   * Whether it comes from clients of the existing service (`COMPAT`, interface 2.30): a delta may remove what
   * does not exist, and unknown keys of a testcase's record are ignored.
   */
  readonly isExisting?: boolean
  /** Limits for a commit, unless it is known to be within them. */
  readonly limits?: DocumentLimits
  /** The sent JSON text without white space between values, if available. */
  readonly text?: string | Buffer | undefined
}

/** The revision whose payload is shown, and the reader's options. */
export interface PresentContext {
  readonly servicesBase: string
  readonly artifactId: string
  readonly revisionId: string
  readonly source: ObjectReader
  readonly asked: Reading
  /** How versions inside a payload are shown (interface 4.5); numbers by default. */
  readonly versionType?: 'number' | 'string' | undefined
  /** Aborted when the caller is gone; stops work that has not begun. */
  readonly signal?: AbortSignal | undefined
}

/** A reader's options for a payload: flags of the request, and the page. */
export interface Reading {
  readonly flags: Readonly<Record<string, boolean | undefined>>
  readonly windowing?: Windowing | undefined
}

/** A reader without options. */
export const PLAIN_READING: Reading = { flags: {} }

/** A payload for a reader, whole or streamed, and the next page if it is a part. */
export interface PresentedPayload {
  readonly data: JsonObject | JsonText | JsonStream | undefined
  readonly windowing?: object | undefined
  /** The total over all pages, if requested. */
  readonly total?: number | undefined
}

/** One side of a diff. */
export interface DiffSide {
  readonly artifactId: string
  readonly source: ObjectReader
  readonly payload: Payload | undefined
  /** The entries of the commit's root. */
  readonly entries: readonly TreeEntry[]
}

/** The requested part of a diff, and its signal. */
export interface DiffRequest {
  readonly windowing?: Windowing | undefined
  /** Aborted when the caller is gone. */
  readonly signal?: AbortSignal | undefined
}

/** The body of a diff, besides `count`. */
export interface PresentedDiff {
  readonly diff: object
  /** The number of differing rows on all pages, if it was asked for. */
  readonly total?: number | undefined
  readonly windowing?: object | undefined
}

/** A payload that may be stored, and warnings for its sender. */
export interface AcceptedPayload {
  readonly payload: Payload
  readonly warnings: readonly Warning[]
}

/** A warning about an accepted request: a stable code, a sentence, and the path inside the payload. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly target?: readonly (string | number)[]
}
