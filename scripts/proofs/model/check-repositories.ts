import { strict as assert } from 'node:assert'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { allObjects, git } from '../../../test/support/git/git-program.ts'
import type { ModelArtifact, ModelRevision, ModelState } from './state/model-state.ts'
import { chainOf } from './state/model-state.ts'

/** Holds every repository of a history against the git program, and deletes what is derived in it. */
export function checkRepositories({ artifacts }: ModelState, folder: string): void {
  for (const artifact of artifacts) {
    const repository = join(folder, `${artifact.slug}.git`)
    assert.equal(git(repository, ['fsck', '--strict', '--no-dangling', '--no-progress']), '')
    for (const revision of artifact.revisions) checkRevision(repository, revision)
    checkBranches(repository, artifact)
    rmSync(join(repository, 'first-parents'), { force: true })
  }
}

/** `git show` of the first twelve digits is the revision (interface 1.13), and its depth the version (interface 4.5). */
function checkRevision(
  repository: string,
  { id, version, author, date, message, data }: ModelRevision,
): void {
  const prefix = id.replace('-', '').slice(0, 12)
  const format = '%H%n%an <%ae>%n%cd%n%B'
  const shown = git(repository, [
    'show',
    '--no-patch',
    '--date=format:%Y-%m-%dT%H:%M:%SZ',
    `--format=${format}`,
    prefix,
  ])
  const [commit = '', shownAuthor, shownDate, ...body] = shown.split('\n')
  assert.ok(commit.startsWith(prefix))
  assert.deepEqual([shownAuthor, shownDate], [author, date])
  assert.ok(
    body.join('\n').startsWith((message ?? '').replaceAll('\r', '\r').trimEnd()),
    'git shows the message',
  )
  assert.equal(git(repository, ['rev-list', '--first-parent', '--count', commit]), String(version))
  const files = git(repository, ['ls-tree', '--name-only', commit]).split('\n')
  assert.equal(files.includes('data.json'), data !== undefined)
}

/** Each variant with revisions is a branch at its head, and no other branch is there; HEAD is the default variant. */
function checkBranches(repository: string, { variants }: ModelArtifact): void {
  const lines = git(repository, ['for-each-ref', '--format=%(refname:strip=2) %(objectname)', 'refs/heads/'])
  const heads = lines === '' ? [] : lines.split('\n').map((line) => line.split(' '))
  const expected = variants.filter(({ head }) => head).map(({ slug }) => slug)
  assert.deepEqual(heads.map(([name]) => name).sort(), expected.sort())
  for (const { slug, head } of variants) {
    const commit = heads.find(([name]) => name === slug)?.[1]
    assert.equal(commit?.slice(0, 12), head?.id.replace('-', '').slice(0, 12))
    assert.equal(
      git(repository, [
        'rev-list',
        '--first-parent',
        '--count',
        ...(commit === undefined ? ['--max-count=0', '--all'] : [commit]),
      ]),
      String(chainOf(head).length),
    )
  }
  const [first] = variants
  if (first) assert.equal(git(repository, ['symbolic-ref', 'HEAD']), `refs/heads/${first.slug}`)
}

/**
 * Ids made like a revision's of every object that is none: of trees, blobs, tags and the commits on refs/meta/artifact
 * (interface 1.13). None of them may be answered as a revision.
 */
export function idsOfOtherObjects(folder: string, { artifacts }: ModelState): string[] {
  return artifacts.flatMap(({ id, slug, revisions }) =>
    allObjects(join(folder, `${slug}.git`))
      .map(({ oid }) => idOf(oid, id))
      .filter((it) => !revisions.some((revision) => revision.id === it)),
  )
}

function idOf(oid: string, artifactId: string): string {
  const bits = (0x8000 | (Number.parseInt(oid.slice(15, 19), 16) >>> 2)).toString(16)
  return `${oid.slice(0, 8)}-${oid.slice(8, 12)}-8${oid.slice(12, 15)}-${bits}-${artifactId.slice(-12)}`
}
