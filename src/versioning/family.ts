import type { Json, JsonObject } from '../json/json.ts'

/**
 * All that a family of artifacts (workflows, testsets, environments, queries) tells the shared engine about itself.
 * The engine knows artifacts, variants and revisions; what a payload may hold, how it lies in a commit's tree and what
 * is derived from it is the family's. Everything here is pure: no disk, no clock, no request.
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
  /** Whether a path of a commit's tree is part of the payload. Paths that are not are carried over by a commit. */
  ownsFile(path: string): boolean
  /** The files that hold a payload. Their paths all satisfy `ownsFile`. */
  encode(data: JsonObject): readonly PayloadFile[]
  /**
   * The payload in a tree, undefined if the tree holds none. Calls `read` only with paths that satisfy `ownsFile`.
   * Refuses with `damaged_repository` what is there and cannot be read.
   */
  decode(read: (path: string) => Buffer | undefined): JsonObject | undefined
  /** A payload as a client sent it, made ready to store; refuses with every problem at once. */
  accept(data: Json, context: PayloadContext): AcceptedPayload
  /** The payload that a delta makes of `base` (undefined: of nothing), made ready to store. */
  applyDelta(base: JsonObject | undefined, delta: Json, context: PayloadContext): AcceptedPayload
  /** A value for each of `flagNames`; undefined stands for a revision without a payload. */
  flags(data: JsonObject | undefined): Readonly<Record<string, boolean>>
  /** The payload as a reader sees it: what is stored, and what is derived on read. */
  present(data: JsonObject, context: PresentContext): JsonObject
}

/** One file of a payload: `path` relative to the root of the commit's tree, with `/` between its parts. */
export interface PayloadFile {
  readonly path: string
  readonly bytes: Buffer
}

/** Where a payload came from: `loc` is its place in the request, for the refusals that name one. */
export interface PayloadContext {
  readonly loc: readonly (string | number)[]
  /** `<PUBLIC_URL>/services`, without a slash at the end. */
  readonly servicesBase: string
}

/** Which revision a payload is shown for. */
export interface PresentContext {
  readonly servicesBase: string
  readonly revisionId: string
}

/** A payload that may be stored, and what its sender should know about it. */
export interface AcceptedPayload {
  readonly data: JsonObject
  readonly warnings: readonly Warning[]
}

/** Something accepted that deserves a look: a stable code, a sentence, and the path inside the payload it is about. */
export interface Warning {
  readonly code: string
  readonly message: string
  readonly target?: readonly (string | number)[]
}
