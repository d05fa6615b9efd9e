import { useLocation, useNavigate, useSearch } from '@tanstack/react-router'
import { artifactKind } from '../../api/artifact-kind.ts'
import { useRoute } from '../../api/use-route.ts'
import { LinkButton } from '../../parts/button/link-button.tsx'
import { fullNameOf } from '../../parts/archive/archivable.ts'
import { ArchivedNote } from '../../parts/archive/archived.tsx'
import { Dependents } from '../../parts/dependents/dependents.tsx'
import { Page } from '../../parts/page/page.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { RevisionSummary } from './revision-summary.tsx'
import { BlameView } from './blame-view.tsx'
import { ContentView } from './content/content-view.tsx'
import { membersOf } from '../../api/members-of.ts'
import { promptsOf } from './content/data-of.ts'
import { FilesView } from './files-view.tsx'
import { JsonText } from './json-text.tsx'
import { Neighbours } from './neighbours.tsx'
import { ProvenanceList } from './provenance-list.tsx'
import styles from './revision.module.css'
import { RevisionMenu } from './revision-menu.tsx'
import { type Revision, useArchivedHere, useNeighbours } from './use-revision.ts'

const VIEWS = ['content', 'blame', 'files', 'json'] as const

/** The page of a revision that is there. */
export function RevisionView({
  revision,
  isHead,
}: {
  readonly revision: Revision
  readonly isHead: boolean
}) {
  const { workflow_slug: slug, variant_slug: variant } = revision
  const version = Number(revision.version)
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const view = VIEWS.find((it) => it === search['view']) ?? 'content'
  const navigate = useNavigate()
  const warnings = useLocation({
    select: ({ state }) => (state as { readonly warnings?: readonly string[] }).warnings,
  })
  const data = membersOf(revision.data)
  const kind = artifactKind(revision)
  const isPrompt = promptsOf(data).length > 0
  const here = `r:${revision.slug}`
  const { previous, next } = useNeighbours(revision)
  const provenance = useRoute('GET /workflows/revisions/{id}/provenance', { path: { id: revision.id } })
  const archived = useArchivedHere(revision)
  // A version that is archived alone may be where an edit of its variant begins all the same.
  const closed = archived && archived.level !== 'revision' ? archived : undefined
  const lacking = useRefusal('write')
  const mayNotWrite = closed ? `${fullNameOf(closed)} is archived: bring it back first.` : lacking
  const noneBefore = previous === undefined ? 'It is the first version of its line.' : undefined
  const comparison =
    previous === undefined
      ? undefined
      : places.compare(slug, `r:${variant}-${previous}`, `r:${variant}-${version}`)
  const go = (to: number | undefined): void => {
    if (to !== undefined) void navigate({ to: places.version(slug, variant, to), search: search as never })
  }

  useCommands([
    {
      id: 'edit',
      title: `Edit ${variant}`,
      keys: 'e',
      refusal: mayNotWrite,
      run: () => void navigate({ to: places.edit(slug, variant) }),
    },
    {
      id: 'run',
      title: `Run v${version}`,
      run: () => void navigate({ to: places.run(slug), search: { left: here } as never }),
    },
    {
      id: 'deploy',
      title: `Deploy v${version}`,
      keys: 'd',
      run: () => void navigate({ to: '.', search: { ...search, deploy: '1' } as never }),
    },
    {
      id: 'compare',
      title: 'Compare with the version before',
      keys: 'c',
      refusal: noneBefore,
      run: () => comparison !== undefined && void navigate({ to: comparison }),
    },
    { id: 'older', title: 'The version before', keys: '[', refusal: noneBefore, run: () => go(previous) },
    {
      id: 'newer',
      title: 'The next version',
      keys: ']',
      refusal: next === undefined ? 'It is the newest version of its variant.' : undefined,
      run: () => go(next),
    },
  ])

  return (
    <Page
      crumbs={[
        { label: kind.title, to: places.home(kind.list), siblings: { of: 'families' } },
        { label: slug, to: places.artifact(slug), siblings: { of: 'artifacts', family: kind.list } },
        {
          label: variant,
          to: places.version(slug, variant),
          siblings: { of: 'variants', family: 'workflows', artifact: slug },
        },
        {
          label: `v${version}`,
          siblings: { of: 'versions', family: 'workflows', artifact: slug, variant },
        },
      ]}
      about={<RevisionSummary revision={revision} provenance={provenance.data?.provenance} />}
      actions={
        <>
          <Neighbours slug={slug} variant={variant} previous={previous} next={next} search={search} />
          <RevisionMenu revision={revision} previous={previous} />
          <LinkButton to={places.run(slug)} search={{ left: here }}>
            Run
          </LinkButton>
          <LinkButton to={places.edit(slug, variant)} kind="primary" refusal={mayNotWrite}>
            Edit {variant}
          </LinkButton>
        </>
      }
      wide
    >
      {archived && <ArchivedNote it={archived} />}
      {warnings && (
        <div role="status">
          <ul className={styles.warnings} aria-label="Warnings of the commit">
            {warnings.map((message) => (
              <li key={message} dir="auto">
                {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      {isHead && (
        <NewsLine
          concerns={({ references }) =>
            references['workflow']?.slug === slug && references['workflow_revision']?.id !== revision.id
          }
        />
      )}
      <div className={styles.columns}>
        <div className={styles.main}>
          <LinkTabs
            label="Views of the revision"
            tabs={VIEWS.map((it) => ({
              label: it === 'content' ? (isPrompt ? 'Conversation' : 'Content') : LABELS[it],
              to: '.',
              search: it === 'content' ? {} : { view: it },
              isHere: it === view,
            }))}
          />
          {view === 'content' && <ContentView data={data} />}
          {view === 'blame' && <BlameView revision={revision} data={data} />}
          {view === 'files' && <FilesView revision={revision} />}
          {view === 'json' && <JsonText revision={revision} />}
        </div>
        <aside className={styles.aside} aria-label="Where it comes from">
          <ProvenanceList slug={slug} variant={variant} version={version} loaded={provenance} />
          <Dependents of={{ workflow_revision_ref: { id: revision.id } }} />
        </aside>
      </div>
    </Page>
  )
}

const LABELS = { blame: 'Blame', files: 'Files', json: 'JSON' } as const
