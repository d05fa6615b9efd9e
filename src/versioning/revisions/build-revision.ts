import { parseCommit } from '../../git/objects/commit.ts'
import type { Oid } from '../../git/objects/object.ts'
import type { TreeEntry } from '../../git/objects/tree.ts'
import { boundedHeader } from '../artifacts/bounded-header.ts'
import type { Header } from '../artifacts/records.ts'
import type { DocumentLimits } from '../family/document-limits.ts'
import type { Family, Payload, PayloadTarget } from '../family/family.ts'
import type { ObjectReader, ObjectSink } from '../family/tree-files.ts'
import { readBytes, readTree, writeTree } from '../family/tree-files.ts'
import { writeJsonFile } from '../family/write-json-file.ts'
import type { Registry } from '../registry.ts'
import type { WriteContext } from '../write-context.ts'
import type { Trailers } from './commit-message.ts'
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
}

/**
 * Writes the objects of a revision on `variant` after `parent` (undefined: the variant's first) and answers the commit. Files
 * of the parent's tree that are neither payload nor header (a README that was pushed) are carried over.
 */
export async function buildRevision(
  registry: Registry,
  family: Family,
  target: PayloadTarget,
  { variant, parent, draft, context }: RevisionPlan,
): Promise<Oid> {
  const before = parent === undefined ? [] : await rootOf(target, parent)
  const carried = before.filter((entry) => entry.name !== REVISION_FILE && !family.ownsFile(entry.name))
  const payload = draft.payload ? await family.write(target, draft.payload, before, registry.limits) : []
  const commit = {
    tree: writeTree(target, [...carried, ...payload, ...(await writeHeader(target, draft, registry.limits))]),
    parent,
    message: draft.message,
    trailers: Object.assign(
      {},
      draft.trailers,
      { variant },
      draft.slug !== undefined && { slug: draft.slug },
    ),
    now: registry.now(),
  }
  return writeCommit(registry, target, commit, context)
}

export interface RevisionPlan {
  readonly variant: string
  readonly parent: Oid | undefined
  readonly draft: RevisionDraft
  readonly context: WriteContext
}

async function rootOf(source: ObjectReader, commit: Oid): Promise<readonly TreeEntry[]> {
  return readTree(source, parseCommit(await readBytes(source, commit, 'commit')).tree)
}

async function writeHeader(
  target: ObjectSink,
  { header = {} }: RevisionDraft,
  limits: DocumentLimits,
): Promise<TreeEntry[]> {
  const brought = boundedHeader(header)
  if (Object.keys(brought).length === 0) return []
  return [await writeJsonFile(target, REVISION_FILE, brought, limits)]
}
