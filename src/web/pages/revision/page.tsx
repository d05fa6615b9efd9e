import { Problem, type Answer, addressOf } from '../../api/call.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure, NotThere, Skeleton } from '../../parts/states/states.tsx'
import { places, useAddress, useChangeAddress } from '../../shell/places.ts'
import { useLocation, useNavigate, useParams, Link } from '@tanstack/react-router'
import { artifactKind, type Revision } from '../../api/kinds.ts'
import { useRoute, useRouteText } from '../../api/use-route.ts'
import { LinkButton } from '../../parts/button/button.tsx'
import { type Archivable, fullNameOf, ArchivedNote } from '../../parts/archive/archive.tsx'
import { Dependents } from '../../parts/dependents/dependents.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import { useRefusal } from '../../shell/session.tsx'
import { BlameView } from './blame-view.tsx'
import { ContentView, promptsOf } from '../../parts/content/content.tsx'
import { membersOf } from '../../api/json.ts'
import { ProvenanceList } from './provenance-list.tsx'
import styles from './revision.module.css'
import { RevisionMenu } from './revision-menu.tsx'
import { CodeLines, bytes } from '../../parts/text/text.tsx'
import { prettyJson } from '../../parts/json/json-view.tsx'
import { EnvironmentDot, RevisionChip } from '../../parts/chips/chips.tsx'
import { FileText } from 'lucide-react'

/** A revision of a prompt, an evaluator or a workflow: content, blame, files, and origin. */
export default function RevisionPage() {
  const { slug, variant, version, data, error, refetch } = useRevisionHere()
  if (data) {
    return <RevisionView key={data.workflow_revision.id} found={data} isHead={version === undefined} />
  }
  const isMissing = error instanceof Problem && error.status === 404
  return (
    <Page crumbs={[{ label: slug, to: places.artifact(slug) }, { label: variant ?? 'Version' }]}>
      {isMissing ? (
        <NotThere
          problem={error}
          placeOf={(near) =>
            error.code === 'artifact_not_found' ? places.artifact(near) : places.version(slug, near)
          }
        />
      ) : error ? (
        <Failure error={error} retry={refetch} />
      ) : (
        <Skeleton label="Loading the version" lines={16} />
      )}
    </Page>
  )
}

type Found = Answer<'POST /workflows/revisions/retrieve'>

/** The revision at the address: a variant's head, a version of it, or a revision by its slug. */
function useRevisionHere() {
  const { slug = '', variant, version, revision } = useParams({ strict: false })
  const body = {
    workflow_ref: { slug },
    ...(variant === undefined ? {} : { workflow_variant_ref: { slug: variant } }),
    ...(version === undefined ? {} : { workflow_revision_ref: { version } }),
    ...(revision === undefined ? {} : { workflow_revision_ref: { slug: revision } }),
    include_head: true,
    include_provenance: true,
  }
  return { slug, variant, version, ...useRoute('POST /workflows/revisions/retrieve', { body }) }
}

/** What is archived: the outermost of the artifact, the variant and the revision. */
function archivedOf({
  workflow_revision: revision,
  retrieval_info: { archived },
}: Found): Archivable | undefined {
  if (archived === undefined) return undefined
  const { id, workflow_id: artifactId, variant_id: variantId } = revision
  return {
    ...{ level: archived, family: 'workflows', word: artifactKind(revision).word },
    ...{
      artifact: revision.workflow_slug,
      variant: revision.variant_slug,
      version: Number(revision.version),
    },
    id: { artifact: artifactId, variant: variantId, revision: id }[archived],
  }
}

/** The versions before and after on the variant; undefined where there is none. */
interface NearVersions {
  readonly previous: number | undefined
  readonly next: number | undefined
}

const VIEWS = ['content', 'blame', 'files', 'json'] as const

/** The page of an existing revision. */
function RevisionView({ found, isHead }: { readonly found: Found; readonly isHead: boolean }) {
  const {
    workflow_revision: revision,
    retrieval_info: { head },
    provenance,
  } = found
  const { workflow_slug: slug, variant_slug: variant } = revision
  const version = Number(revision.version)
  const previous = version > 1 ? version - 1 : undefined
  const next = version < Number(head?.version ?? version) ? version + 1 : undefined
  const search = useAddress()
  const change = useChangeAddress()
  const view = VIEWS.find((it) => it === search['view']) ?? 'content'
  const navigate = useNavigate()
  const warnings = useLocation({
    select: ({ state }) => (state as { readonly warnings?: readonly string[] }).warnings,
  })
  const data = membersOf(revision.data)
  const kind = artifactKind(revision)
  const isPrompt = promptsOf(data).length > 0
  const here = `r:${revision.slug}`
  const archived = archivedOf(found)
  // An edit may start from a version that is archived by itself.
  const closed = archived && archived.level !== 'revision' ? archived : undefined
  const lacking = useRefusal('write')
  const mayNotWrite = closed ? `${fullNameOf(closed)} is archived: bring it back first.` : lacking
  const noneBefore = previous === undefined ? 'This is the first version.' : undefined
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
      run: () => change({ deploy: '1' }),
    },
    {
      id: 'compare',
      title: 'Compare with the previous version',
      keys: 'c',
      refusal: noneBefore,
      run: () => comparison !== undefined && void navigate({ to: comparison }),
    },
    { id: 'older', title: 'Previous version', keys: '[', refusal: noneBefore, run: () => go(previous) },
    {
      id: 'newer',
      title: 'Next version',
      keys: ']',
      refusal: next === undefined ? 'This is the newest version.' : undefined,
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
      about={<RevisionSummary revision={revision} provenance={provenance} />}
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
          <ul className="notice gap-below" aria-label="Warnings about what was saved">
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
            label="Views of the version"
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
        <aside className={styles.aside} aria-label="Origin">
          {provenance && (
            <ProvenanceList slug={slug} variant={variant} version={version} provenance={provenance} />
          )}
          <Dependents of={{ workflow_revision_ref: { id: revision.id } }} />
        </aside>
      </div>
    </Page>
  )
}

const LABELS = { blame: 'Blame', files: 'Files', json: 'JSON' } as const

/** The answer of the interface, with numbers and the order of keys unchanged. */
function JsonText({ revision: { id } }: { readonly revision: Revision }) {
  const { data, error } = useRouteText('GET /workflows/revisions/{id}', { path: { id } })
  if (error) return <Failure error={error} />
  if (data === undefined) return <Skeleton label="Loading the JSON" />
  return (
    <div className={styles.content}>
      <p className="muted-small">
        <code>GET /workflows/revisions/{id}</code>
      </p>
      <CodeLines label="JSON" text={prettyJson(data)} />
    </div>
  )
}

interface RevisionSummaryProps {
  readonly revision: Revision
  readonly provenance: Found['provenance']
}

/** The facts beside the heading: commit, author, date, environments and subject. */
function RevisionSummary({ revision, provenance }: RevisionSummaryProps) {
  const { id, slug, workflow_slug: artifact, variant_slug: variant, author, date, subject } = revision
  const version = Number(revision.version)
  const environments = new Set(provenance?.environments.flatMap(({ environment }) => environment?.slug ?? []))
  return (
    <>
      <RevisionChip
        to={places.revision(artifact, slug)}
        version={version}
        commit={id.replaceAll('-', '')}
        author={author}
        date={date}
        subject={subject.slice(0, 300)}
      />
      {[...environments].map((it) => (
        <EnvironmentDot key={it} slug={it} />
      ))}
      {slug !== `${variant}-${version}` && <span className="pill muted">{slug}</span>}
      <bdi className={styles.subject}>{subject.slice(0, 300)}</bdi>
    </>
  )
}

interface NeighboursProps extends NearVersions {
  readonly slug: string
  readonly variant: string
  /** The shown view is kept. */
  readonly search: Readonly<Record<string, string | undefined>>
}

/** Links to the versions before and after. */
function Neighbours({ slug, variant, previous, next, search }: NeighboursProps) {
  const { view } = search
  const kept: Record<string, string> = view === undefined ? {} : { view }
  return (
    <>
      <LinkButton
        kind="quiet"
        to={places.version(slug, variant, previous)}
        search={kept}
        refusal={previous === undefined ? 'This is the first version.' : undefined}
      >
        ‹ {previous === undefined ? 'First' : `v${previous}`}
      </LinkButton>
      <LinkButton
        kind="quiet"
        to={places.version(slug, variant, next)}
        search={kept}
        refusal={next === undefined ? 'This is the newest version.' : undefined}
      >
        {next === undefined ? 'Newest' : `v${next}`} ›
      </LinkButton>
    </>
  )
}

/** More files are only in the clone. */
const MOST = 300
/** Longer files are not shown, but can be opened. */
const LONGEST = 2_000_000

/** The files of the revision in git, and the content of one. */
function FilesView({ revision: { id } }: { readonly revision: Revision }) {
  const { file } = useAddress()
  const { data, error } = useRoute(
    'GET /workflows/revisions/{id}/files',
    { path: { id }, query: {} },
    { immutable: true },
  )
  if (error) return <Failure error={error} />
  if (!data) return <Skeleton label="Loading the files" />
  const open = data.files.find(({ path }) => path === file) ?? data.files[0]
  return (
    <div className={styles.files}>
      <nav aria-label="Files">
        <ul>
          {data.files.slice(0, MOST).map(({ path, size }) => (
            <li key={path}>
              <Link
                to="."
                search={((kept: object) => ({ ...kept, file: path })) as never}
                aria-current={path === open?.path ? 'page' : undefined}
              >
                <FileText size={14} aria-hidden />
                <bdi>{path}</bdi>
                <span className={styles.size}>{bytes(size)}</span>
              </Link>
            </li>
          ))}
        </ul>
        {(data.windowing || data.files.length > MOST) && (
          <p className="muted-small">Clone the repository to see the other files.</p>
        )}
      </nav>
      {open && <OneFile key={open.path} id={id} path={open.path} size={open.size} />}
    </div>
  )
}

function OneFile({ id, path, size }: { readonly id: string; readonly path: string; readonly size: number }) {
  const ask = { path: { id, path } }
  const isShort = size <= LONGEST
  const { data, error } = useRoute('GET /workflows/revisions/{id}/files/{path}', ask, {
    enabled: isShort,
    immutable: true,
  })
  const isBinary = typeof data === 'string' && /\0|\uFFFD/.test(data.slice(0, 100_000))
  return (
    <section aria-label={path} className={styles.file}>
      <header>
        <h3>
          <bdi>{path}</bdi>
        </h3>
        <a href={addressOf('GET /workflows/revisions/{id}/files/{path}', ask)}>Open the file</a>
      </header>
      {error && <Failure error={error} />}
      {!isShort && <p>This file has {bytes(size)}. Open it, or clone the repository.</p>}
      {isBinary && <p>Not a text file: {bytes(size)}.</p>}
      {isShort && data === undefined && !error && <Skeleton label={`Loading ${path}`} />}
      {typeof data === 'string' && !isBinary && <CodeLines label={path} text={data} />}
    </section>
  )
}
