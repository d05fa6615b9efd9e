import type { Finding } from '../../registry/verify.ts'
import type { VerifiedRepository } from './verify-repository.ts'

/** `stale`: --repair can fix it. */
export type RepositoryVerdict = 'ok' | 'repaired' | 'stale' | 'damaged'

/** A repository's line: its verdict, path, and all findings and repairs. */
export function repositoryLine(
  project: string,
  { repository, revisions, findings }: VerifiedRepository,
  repaired: ReadonlyMap<string, string>,
): { readonly line: string; readonly verdict: RepositoryVerdict } {
  const size = revisions === 1 ? '1 revision' : `${revisions} revisions`
  return judgedLine(`${project}/${repository}`, size, findings, repaired)
}

/** As `repositoryLine`, with a given size. */
export function judgedLine(
  path: string,
  size: string,
  findings: readonly Finding[],
  repaired: ReadonlyMap<string, string> = NOTHING,
): { readonly line: string; readonly verdict: RepositoryVerdict } {
  const verdict = verdictOf(findings, repaired)
  const parts = findings.map((finding) => describe(finding, repaired.get(finding.sentence)))
  const line = [verdict.padEnd(WIDEST), path, size, ...parts].join('  ')
  return { line: line.replaceAll(/\s*\n\s*/g, ' '), verdict }
}

const NOTHING: ReadonlyMap<string, string> = new Map()

/** The last line: the number of repositories by verdict. */
export function verdictSummary(verdicts: readonly RepositoryVerdict[], seconds: number): string {
  const counts = (['ok', 'repaired', 'stale', 'damaged'] as const).flatMap((verdict) => {
    const count = verdicts.filter((it) => it === verdict).length
    return count > 0 ? [`${count} ${verdict}`] : []
  })
  return `${verdicts.length} repositories: ${counts.join(', ') || 'nothing to verify'} (${seconds.toFixed(1)} s)`
}

/** A repository's line as a JSON record. */
export function repositoryRecord(
  project: string,
  { repository, revisions, findings }: VerifiedRepository,
  repaired: ReadonlyMap<string, string>,
): object {
  return {
    project,
    repository,
    verdict: verdictOf(findings, repaired),
    revisions,
    findings: findings.map(({ kind, sentence }) => ({ kind, sentence, repaired: repaired.get(sentence) })),
  }
}

const WIDEST = 'repaired'.length

function verdictOf(findings: readonly Finding[], repaired: ReadonlyMap<string, string>): RepositoryVerdict {
  const kinds = findings.map(({ kind, sentence }) => (repaired.has(sentence) ? 'repaired' : kind))
  if (kinds.includes('damage')) return 'damaged'
  if (kinds.includes('derived')) return 'stale'
  return kinds.includes('repaired') ? 'repaired' : 'ok'
}

function describe({ kind, sentence }: Finding, done: string | undefined): string {
  if (done !== undefined) return `${sentence} Repaired: ${done}.`
  return kind === 'note' ? `(Note: ${sentence})` : sentence
}
