import type { Oid } from '../../../git/objects/object.ts'
import { AlignmentSteps } from '../../../json/diff/align-numbers.ts'
import { TimeSlice } from '../../../scheduling/cooperative.ts'
import type { DiffRequest, DiffSide, PresentedDiff } from '../../family/family.ts'
import type { ObjectReader } from '../../family/tree-files.ts'
import { readBytes, readTree } from '../../family/tree-files.ts'
import type { Registry } from '../../registry.ts'
import type { RevisionLocation } from '../revision.ts'
import { changedFiles, tooDifferent } from './changed-files.ts'
import { STEPS_OF_DIFF, unifiedDiff } from './unified-diff.ts'

/** The difference between two revisions of a family, of one artifact or of two (interface 6.1, 8.24). */
export async function diffRevisions(
  registry: Registry,
  base: RevisionLocation,
  head: RevisionLocation,
  asked: DiffRequest,
): Promise<PresentedDiff> {
  const { family } = base.artifact
  return family.diff(await readSide(registry, base), await readSide(registry, head), asked)
}

async function readSide(registry: Registry, { artifact, oid }: RevisionLocation): Promise<DiffSide> {
  const { objects } = artifact.repository
  const { payload, commit } = await registry.revisions(artifact.family).read(objects, oid)
  return {
    artifactId: artifact.id,
    source: objects,
    payload,
    entries: await readTree(objects, commit.tree),
  }
}

/** Bytes of the files that are compared, those of the payload aside, which commits have a limit for. */
const MOST_BYTES = 64 * 1024 * 1024

export interface DiffFilesOptions {
  /** Whether a file in the root is one of the payload. */
  readonly ownsFile: (name: string) => boolean
  /** Nobody waits for it any more. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Each file of the trees that differs, as a unified text diff like `git diff` prints. Refuses with `limit_exceeded` what is more than an
 * answer can hold.
 */
export async function diffFiles(
  base: DiffSide,
  head: DiffSide,
  { ownsFile, signal }: DiffFilesOptions,
): Promise<readonly { readonly path: string; readonly diff: string }[]> {
  const slice = new TimeSlice(signal)
  const files = []
  const steps = new AlignmentSteps(STEPS_OF_DIFF)
  let bytes = 0
  for (const { path, before, after } of await changedFiles(base, head, slice)) {
    const [old, now] = [await bytesOf(base.source, before), await bytesOf(head.source, after)]
    if (!ownsFile(path)) bytes += (old?.length ?? 0) + (now?.length ?? 0)
    if (bytes > MOST_BYTES) throw tooDifferent()
    const diff = await unifiedDiff(path, old?.toString('utf8'), now?.toString('utf8'), slice, steps)
    files.push({ path, diff })
    if (slice.isOver) await slice.rest()
  }
  return files
}

async function bytesOf(source: ObjectReader, oid: Oid | undefined): Promise<Buffer | undefined> {
  return oid === undefined ? undefined : readBytes(source, oid, 'blob')
}
