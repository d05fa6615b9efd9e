import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { artifactKind } from '../../api/artifact-kind.ts'
import { useRoute, useWrite } from '../../api/use-route.ts'
import { LinkButton } from '../../parts/button/link-button.tsx'
import { type End, endOf, textOfEnd } from '../../parts/compare/ends.ts'
import { DeploySheet } from '../../parts/deploy/deploy-sheet.tsx'
import { Dependents } from '../../parts/dependents/dependents.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import { RevisionSummary } from './revision-summary.tsx'
import { BlameView } from './blame-view.tsx'
import { ContentView } from './content/content-view.tsx'
import { CurlDialog } from './curl-dialog.tsx'
import { membersOf } from '../../api/members-of.ts'
import { promptsOf } from './content/data-of.ts'
import { FilesView } from './files-view.tsx'
import { JsonText } from './json-text.tsx'
import { Neighbours } from './neighbours.tsx'
import { ProvenanceList } from './provenance-list.tsx'
import styles from './revision.module.css'
import { type Revision, useNeighbours } from './use-revision.ts'

const VIEWS = ['content', 'blame', 'files', 'json'] as const

/** The page of a revision that is there. */
export function RevisionView({
  revision,
  isHead,
}: {
  readonly revision: Revision
  readonly isHead: boolean
}) {
  const { workflow_slug: slug, variant_slug: variant, deleted_at: archivedAt } = revision
  const version = Number(revision.version)
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const view = VIEWS.find((it) => it === search['view']) ?? 'content'
  const navigate = useNavigate()
  const [isReverting, setReverting] = useState(false)
  const data = membersOf(revision.data)
  const kind = artifactKind(revision)
  const isPrompt = promptsOf(data).length > 0
  const here = `r:${revision.slug}`
  // The same, as a version of the variant at the address: other variants may hold it, too.
  const asVersion: End = { kind: 'revision', slug: `${variant}-${version}` }
  const { deploy, to, what } = search
  const show = (more: Readonly<Record<string, string | undefined>>, replace = false): void =>
    void navigate({ to: '.', search: { ...search, ...more } as never, replace })
  const { previous, next } = useNeighbours(revision)
  const provenance = useRoute('GET /workflows/revisions/{id}/provenance', { path: { id: revision.id } })
  const archive = useWrite('POST /workflows/revisions/{id}/archive')
  const unarchive = useWrite('POST /workflows/revisions/{id}/unarchive')
  const mayNotWrite = useRefusal('write')
  const noneBefore = previous === undefined ? 'It is the first version of its line.' : undefined
  const isArchived = archivedAt !== undefined
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
      run: () => show({ deploy: '1' }),
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
          <Menu
            label="More"
            title="What can be done with this version"
            items={[
              comparison === undefined
                ? { label: 'Compare with the version before', refusal: noneBefore, run: () => undefined }
                : { label: 'Compare with the version before', to: comparison },
              {
                label: `Compare with the head of ${variant}`,
                to: places.compare(slug, here, `v:${variant}`),
              },
              { label: 'Deploy …', run: () => show({ deploy: '1' }) },
              { label: 'Revert or cherry-pick …', run: () => setReverting(true) },
              isArchived
                ? {
                    label: 'Bring back from the archive',
                    refusal: mayNotWrite,
                    run: () => unarchive.mutate({ path: { id: revision.id } }),
                  }
                : {
                    label: 'Archive',
                    refusal: mayNotWrite,
                    run: () => archive.mutate({ path: { id: revision.id } }),
                  },
            ]}
          />
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
      {isHead && (
        <NewsLine
          concerns={({ references }) =>
            references['workflow']?.slug === slug && references['workflow_revision']?.id !== revision.id
          }
        />
      )}
      {(archive.error ?? unarchive.error) && <Failure error={archive.error ?? unarchive.error} />}
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
      {deploy !== undefined && (
        <DeploySheet
          artifact={slug}
          to={to}
          what={what === undefined ? asVersion : endOf(what)}
          choose={(end) => show({ what: textOfEnd(end) }, true)}
          chooseTo={(environment) => show({ to: environment }, true)}
          close={() => show({ deploy: undefined, to: undefined, what: undefined })}
        />
      )}
      {isReverting && <CurlDialog revision={revision} close={() => setReverting(false)} />}
    </Page>
  )
}

const LABELS = { blame: 'Blame', files: 'Files', json: 'JSON' } as const
