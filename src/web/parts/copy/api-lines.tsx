import { FAMILIES } from '../../api/kinds.ts'
import { PAGES } from '../../../http/workbench/addresses.ts'
import { endReferences, endsOf, sideOf } from '../compare/ends.ts'
import { Copyable } from './copyable.tsx'
import styles from './copyable.module.css'

export interface ApiLinesProps {
  /** Commands that do or ask the same as the page, each with what it does. */
  readonly lines: readonly { readonly label: string; readonly text: string }[]
}

/** The same in a terminal, folded until somebody wants it. */
export function ApiLines({ lines }: ApiLinesProps) {
  return (
    <details className={styles.api}>
      <summary>API</summary>
      {lines.map(({ label, text }) => (
        <div key={label}>
          <p className="muted-small">{label}</p>
          <Copyable label={label} text={text} />
        </div>
      ))}
    </details>
  )
}

/** The lines of the page at an address; none where the page has its own. */
export function PageLines({ path, kind }: { readonly path: string; readonly kind: string | undefined }) {
  const lines = linesAt(path.split('/').slice(1), kind)
  return lines.length === 0 ? null : <ApiLines lines={lines} />
}

type Lines = ApiLinesProps['lines']

function linesAt(
  [page = '', slug = '', part, name = '', version]: string[],
  kind: string | undefined,
): Lines {
  const newest = { windowing: { limit: 20, order: 'descending' } }
  const shown = (path: string, body?: object) => ({ label: 'What this page shows', text: curlOf(path, body) })
  switch (page) {
    case '': {
      const family = FAMILIES.find((it) => it.kind === kind)
      return family ? [shown(`/${family.kind}/query`, newest)] : [shown('/projects/current')]
    }
    case PAGES.artifact:
      return part === 'run'
        ? [
            {
              label: 'Run the newest version',
              text: curlOf('/services/invoke', { references: { workflow: { slug } }, data: { inputs: {} } }),
            },
          ]
        : versionLines('workflow', slug, part, name, version)
    case PAGES.testset:
      return versionLines('testset', slug, part ?? '', name, version)
    case PAGES.query:
      return [
        { label: 'The query', text: curlOf(`/queries/${slug}`) },
        { label: 'What it finds', text: curlOf('/traces/query', { query_ref: { slug } }) },
      ]
    case PAGES.evaluations:
      return slug === ''
        ? [shown('/evaluations/query', newest)]
        : slug.split('...').flatMap((id) => [
            { label: `Evaluation ${id}`, text: curlOf(`/evaluations/${id}`) },
            { label: `The rows of ${id}`, text: curlOf(`/evaluations/${id}/results`, {}) },
          ])
    case PAGES.traces:
      return slug === ''
        ? [{ label: 'The newest traces', text: curlOf('/traces/query', newest) }]
        : [shown(`/traces/${slug}`)]
    case PAGES.settings:
      return slug === 'trash'
        ? [shown('/trash')]
        : slug === 'session'
          ? [{ label: 'The project of a key', text: curlOf('/projects/current') }]
          : []
    default:
      return []
  }
}

/** A version of a prompt or of a testset, or two that are compared; an artifact has its own lines. */
function versionLines(
  family: 'workflow' | 'testset',
  slug: string,
  part: string | undefined,
  name: string,
  version: string | undefined,
): Lines {
  if (part === undefined) return []
  const retrieve = (label: string, body: object) => ({
    label,
    text: curlOf(`/${family}s/revisions/retrieve`, body),
  })
  const ends = part === 'compare' ? endsOf(name) : undefined
  if (ends) {
    const { base, head } = ends
    const sides = [
      retrieve('The left side', endReferences(base, slug, family)),
      retrieve('The right side', endReferences(head, slug, family)),
    ]
    if (base.kind === 'revision' || head.kind === 'revision') return sides
    const body = { base: sideOf(base, slug, ''), head: sideOf(head, slug, '') }
    return [{ label: 'How they differ', text: curlOf(`/${family}s/variants/compare`, body) }, ...sides]
  }
  return [
    retrieve(part === 'edit' ? 'The version that the draft begins with' : 'What this page shows', {
      [`${family}_ref`]: { slug },
      ...(part === 'v' || part === 'edit' ? { [`${family}_variant_ref`]: { slug: name } } : {}),
      ...(part === 'r' ? { [`${family}_revision_ref`]: { slug: name } } : {}),
      ...(version === undefined ? {} : { [`${family}_revision_ref`]: { version: Number(version) } }),
    }),
  ]
}

/** A `curl` command with the key from a shell variable. The path is encoded: one from an address could hold commands of a shell. */
export function curlOf(path: string, body?: object): string {
  const encoded = path.replace(/[^\w/.~?=&-]/gu, encodeURIComponent)
  const sent =
    body === undefined ? '' : ` -H 'Content-Type: application/json' \\\n  -d ${quoted(JSON.stringify(body))}`
  return `curl "${location.origin}${encoded}" \\\n  -H "Authorization: ApiKey $BRANCHPOINT_KEY"${sent}`
}

/** The command that deploys a version to an environment. */
export function deployCommand(environment: string): string {
  return curlOf('/workflows/revisions/deploy', {
    workflow_revision_ref: { slug: 'my-prompt', version: 1 },
    environment_ref: { slug: environment },
  })
}

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** `git clone` with the key from a shell variable, as in the guide. */
export function cloneCommand({ git_url: url }: { readonly git_url: string }): string {
  return `git clone "${url.replace('://', '://me:$BRANCHPOINT_KEY@')}"`
}
