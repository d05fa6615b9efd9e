import { parseCommit } from '../../git/objects/commit.ts'
import type { Ident } from '../../git/objects/ident.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import { boundedHeader } from '../artifacts/bounded-header.ts'
import type { Header } from '../artifacts/records.ts'
import type { DocumentLimits } from '../family/document-limits.ts'
import type { Family, MetRows, Payload, PayloadTarget, WrittenPayload } from '../family/family.ts'
import type { ObjectReader, ObjectSink } from '../family/tree-files.ts'
import { readBytes, readTree, writeFile, writeTree } from '../family/tree-files.ts'
import { jsonFileBytes } from '../family/write-json-file.ts'
import type { Registry } from '../registry.ts'
import { revisionSubject } from '../subjects/revision-subject.ts'
import type { WriteContext } from '../write-context.ts'
import type { Trailers } from './commit-message.ts'
import { decodeMessage, subjectIn } from './commit-message.ts'
import type { StoredRevision } from './decoded-revision.ts'
import { REVISION_FILE } from './decoded-revision.ts'
import { writeCommit } from './write-commit.ts'

/** What a new revision says. */
export interface RevisionDraft {
  readonly message?: string | undefined
  readonly header?: Header | undefined
  /** The payload, ready to store; undefined for a revision without one. */
  readonly payload: Payload | undefined
  /** A slug of its own; the caller has made sure that it is free. */
  readonly slug?: string | undefined
  /** What it has to say about deployments. */
  readonly trailers?: Trailers
  /** What stands where there is no message, in place of what changed. */
  readonly subject?: string | undefined
  /** Who wrote it, if that is not who commits it. */
  readonly author?: Ident | undefined
}

/**
 * Writes the objects of a revision on `variant` after `parent` (undefined: the variant's first) and answers what reading it will. Files
 * of the parent's tree that are neither payload nor header (a README that was pushed) are carried over.
 */
export async function buildRevision(
  registry: Registry,
  family: Family,
  target: PayloadTarget,
  { artifact, variant, parent, taken, draft, context }: RevisionPlan,
): Promise<BuiltRevision> {
  const before = taken?.before ?? (parent === undefined ? [] : await rootOf(target, parent))
  const carried = before.filter((entry) => entry.name !== REVISION_FILE && !family.ownsFile(entry.name))
  const payload =
    draft.payload && (await family.write(target, draft.payload, before, registry.limits, taken?.other))
  const header = boundedHeader(draft.header ?? {})
  const headerFile = await writeHeader(target, header, registry.limits)
  const entries = [...carried, ...(payload?.entries ?? []), ...headerFile.entries]
  const sent = draft.message !== undefined && subjectIn(draft.message) !== '' ? draft.message : undefined
  const planned = {
    tree: writeTree(target, entries),
    parent,
    otherParents: taken?.parents,
    author: draft.author,
    message: sent,
    ...(sent === undefined && { subject: draft.subject ?? (await subjectOf(payload, header)) }),
    trailers: Object.assign(
      {},
      draft.trailers,
      { variant },
      draft.slug !== undefined && { slug: draft.slug },
    ),
    now: registry.now(),
  }
  const { oid, commit } = writeCommit(registry, target, planned, context)
  const { payload: stored, size = 0 } = payload?.stored ?? {}
  const said = decodeMessage(commit.message)
  const revision = { oid, commit, ...said, header, payload: stored, size: headerFile.size + size }
  return { revision, met: payload?.met }

  async function subjectOf(written: WrittenPayload | undefined, newHeader: Header): Promise<string> {
    const old =
      parent === undefined ? undefined : await registry.revisions(family).readForList(target, parent)
    return revisionSubject({
      families: registry.families,
      family,
      artifact,
      before: old,
      after: { header: newHeader, payload: written?.stored?.payload },
      changedRows: written?.changedRows,
      met: written?.met,
      files: written?.files,
    })
  }
}

/** A revision whose objects are written. */
export interface BuiltRevision {
  readonly revision: StoredRevision
  /** What became of rows that were sent and are none of its own. */
  readonly met: MetRows | undefined
}

export interface RevisionPlan {
  /** The slug of the artifact. */
  readonly artifact: string
  readonly variant: string
  readonly parent: Oid | undefined
  /** What came from other revisions. */
  readonly taken?: TakenIn | undefined
  readonly draft: RevisionDraft
  readonly context: WriteContext
}

/** What a merge brings beside a payload. */
export interface TakenIn {
  /** Parents behind the first. */
  readonly parents: readonly Oid[]
  /** The root that the payload is written onto, in place of the parent's. */
  readonly before: readonly TreeEntry[]
  /** The root of the revision whose changes are taken in. */
  readonly other: readonly TreeEntry[]
}

/** The entries of a commit's root. */
export async function rootOf(source: ObjectReader, commit: Oid): Promise<readonly TreeEntry[]> {
  return readTree(source, parseCommit(await readBytes(source, commit, 'commit')).tree)
}

/** The file for what came beside the payload, and its size in bytes; none where nothing did. */
async function writeHeader(
  target: ObjectSink,
  header: Header,
  limits: DocumentLimits,
): Promise<{ readonly entries: readonly TreeEntry[]; readonly size: number }> {
  if (Object.keys(header).length === 0) return { entries: [], size: 0 }
  const bytes = await jsonFileBytes(header, limits)
  return { entries: [writeFile(target, REVISION_FILE, bytes)], size: bytes.length }
}
