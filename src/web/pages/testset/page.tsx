import { useParams, useNavigate, Link } from '@tanstack/react-router'
import { Problem, addressOf } from '../../api/call.ts'
import { useRoute, usePages, useWrite } from '../../api/use-route.ts'
import { Page } from '../../parts/page/page.tsx'
import { Failure, NotThere, Skeleton, Empty } from '../../parts/states/states.tsx'
import { places, useAddress } from '../../shell/places.ts'
import { type ReactNode, useRef, useState } from 'react'
import { Button } from '../../parts/button/button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { RevisionChip } from '../../parts/chips/chips.tsx'
import { LinkTabs } from '../../parts/tabs/tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/live.tsx'
import type { Testset, TestsetRevision } from './rows.ts'
import { RowsView } from './rows-view.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import { TestsetArchived, TestsetMenu, TestsetVariants } from './testset-archive.tsx'
import styles from './testset.module.css'
import { VersionTable } from '../../parts/versions/version-table.tsx'
import { COMMAND } from '../../shell/document.ts'
import { Copyable } from '../../parts/copy/copyable.tsx'
import { JsonView } from '../../parts/json/json-view.tsx'
import { Ago } from '../../parts/time/time.tsx'
import { useRefusal } from '../../shell/session.tsx'

/** A testset: rows, versions, and about. */
export default function TestsetPage() {
  const { slug = '', variant, version } = useParams({ strict: false })
  const testset = useRoute('GET /simple/testsets/{id}', {
    path: { id: slug },
    query: { include_testcases: false, include_testcase_ids: false },
  })
  const isWithoutRows =
    variant === undefined && testset.data !== undefined && testset.data.testset.revision_id === undefined
  const head = useRoute(
    'POST /testsets/revisions/retrieve',
    {
      body: {
        testset_ref: { slug },
        ...(variant === undefined
          ? {}
          : version === undefined
            ? { testset_variant_ref: { slug: variant } }
            : { testset_revision_ref: { slug: variant, version } }),
        include_testcases: false,
        include_testcase_ids: false,
        windowing: { count_total: true },
      },
    },
    // The shown revision stays until the user asks for a newer one.
    {
      immutable: true,
      keepPrevious: true,
      // A testset without rows has no revision to fetch.
      enabled: variant !== undefined || (testset.data !== undefined && !isWithoutRows),
    },
  )
  if (testset.data)
    return (
      <TestsetView
        key={testset.data.testset.id}
        testset={testset.data.testset}
        revision={head.data?.testset_revision}
        total={head.data?.total ?? 0}
        isPinned={version !== undefined}
        isEmpty={isWithoutRows}
        failure={head.error && <Failure error={head.error} retry={head.refetch} />}
      />
    )
  return (
    <Page crumbs={[{ label: 'Testsets', to: places.home('testsets') }, { label: slug }]}>
      {testset.error instanceof Problem && testset.error.status === 404 ? (
        <NotThere problem={testset.error} placeOf={places.testset} />
      ) : testset.error ? (
        <Failure error={testset.error} retry={testset.refetch} />
      ) : (
        <Skeleton label={`Loading ${slug}`} lines={16} />
      )}
    </Page>
  )
}

interface TestsetViewProps {
  readonly testset: Testset
  /** The shown revision; undefined if there is none, or while it is loading. */
  readonly revision: TestsetRevision | undefined
  /** How many rows it has. */
  readonly total: number
  /** Whether the address names the version. */
  readonly isPinned: boolean
  /** Whether it has no revision yet. */
  readonly isEmpty: boolean
  /** Why the revision cannot be shown. */
  readonly failure: ReactNode
}

/** A testset. `?view=versions|about` are its other tabs. */
function TestsetView({ testset, revision, total, isPinned, isEmpty, failure }: TestsetViewProps) {
  const { slug } = testset
  const search = useAddress()
  const view = search['view'] ?? 'rows'
  const navigate = useNavigate()
  const [file, setFile] = useState<File | 'none'>()
  // Rows that were typed from nothing stay while their first version loads: the save that made it has yet to drop their draft.
  const wasEmpty = useRef(isEmpty)
  wasEmpty.current ||= isEmpty
  const hasRows = revision !== undefined || isEmpty || (wasEmpty.current && !failure)
  const isArchived = testset.deleted_at !== undefined
  const variant = revision?.testset_variant_slug ?? slug
  const version = Number(revision?.version ?? 0)
  const here = isPinned ? places.testsetVersion(slug, variant, version) : places.testsetVersion(slug, variant)
  useCommands([
    {
      id: 'upload',
      title: `Upload a file to ${variant}`,
      keys: 'u',
      group: 'Testset',
      run: () => setFile('none'),
    },
    {
      id: 'versions',
      title: 'Show versions',
      keys: 'v',
      group: 'Testset',
      run: () => void navigate({ to: here, search: { view: 'versions' } }),
    },
  ])
  const download = (type: 'csv' | 'json' | 'jsonl') => ({
    label: `As ${type.toUpperCase()}`,
    run: () => {
      if (!revision) return
      location.assign(
        addressOf('GET /testsets/revisions/{id}/download', {
          path: { id: revision.id },
          query: {
            file_type: type,
            file_name: `${slug}-v${version}`,
            // A spreadsheet must not run formulas that another user wrote.
            ...(type === 'csv' ? { escape_formulas: true } : {}),
          },
        }),
      )
    },
  })
  return (
    <Page
      wide
      title={[
        testset.name ?? slug,
        ...(variant === slug ? [] : [variant]),
        ...(isPinned ? [`v${version}`] : []),
      ].join(' ')}
      fills={view === 'rows' && hasRows}
      crumbs={[
        { label: 'Testsets', to: places.home('testsets'), siblings: { of: 'families' } },
        {
          label: testset.name ?? slug,
          to: places.testset(slug),
          siblings: { of: 'artifacts', family: 'testsets' },
        },
        ...(revision
          ? ([
              {
                label: variant,
                to: places.testsetVersion(slug, variant),
                siblings: { of: 'variants', family: 'testsets', artifact: slug },
              },
              ...(isPinned
                ? ([
                    {
                      label: `v${version}`,
                      siblings: { of: 'versions', family: 'testsets', artifact: slug, variant },
                    },
                  ] as const)
                : []),
            ] as const)
          : []),
      ]}
      about={
        revision && (
          <>
            <RevisionChip
              to={places.testsetVersion(slug, variant, version)}
              version={version}
              author={revision.author}
              date={revision.date}
              subject={revision.message ?? revision.subject}
            />
            <span>{total === 1 ? '1 row' : `${total.toLocaleString()} rows`}</span>
          </>
        )
      }
      actions={
        <>
          {revision && (
            <Menu label="Download" items={[download('csv'), download('json'), download('jsonl')]} />
          )}
          <TestsetMenu testset={testset} revision={revision} />
          <Button
            needs="write"
            refusal={isArchived ? 'The testset is archived: bring it back first.' : undefined}
            onClick={() => setFile('none')}
          >
            Upload to {variant}
          </Button>
        </>
      }
    >
      <TestsetArchived testset={testset} revision={revision} />
      <LinkTabs
        label="Views of the testset"
        tabs={[
          { label: 'Rows', to: here, isHere: view === 'rows' },
          {
            label: 'Versions',
            to: here,
            search: { view: 'versions' },
            isHere: view === 'versions',
            count: undefined,
          },
          { label: 'About', to: here, search: { view: 'about' }, isHere: view === 'about' },
        ]}
      />
      <NewsLine
        key={revision?.id ?? ''}
        concerns={({ kind, references }) =>
          kind === 'revision' &&
          Object.values(references).some((it) => it?.id === (revision?.testset_variant_id ?? testset.id))
        }
      />
      {failure}
      {view === 'versions' ? (
        <TestsetVersions testset={testset} revision={revision} />
      ) : view === 'about' ? (
        <AboutTestset testset={testset} revision={revision} />
      ) : hasRows ? (
        <RowsView testset={testset} revision={revision} total={total} isPinned={isPinned} drop={setFile} />
      ) : (
        !failure && <Skeleton label={`Loading the rows of ${slug}`} lines={16} />
      )}
      {file !== undefined && (
        <UploadDialog
          testset={testset}
          revision={revision}
          file={file === 'none' ? undefined : file}
          close={() => setFile(undefined)}
        />
      )}
    </Page>
  )
}

interface VersionsProps {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}

/** The versions of the variant, newest first, each with what it changed. */
function TestsetVersions({ testset: { slug }, revision }: VersionsProps) {
  const [isOn, onChange] = useState(false)
  const query = usePages(
    'POST /testsets/revisions/log',
    {
      body: {
        testset: { testset_variant_id: revision?.testset_variant_id ?? '' },
        ...(isOn ? { include_archived: true } : {}),
        windowing: { limit: 50 },
      },
    },
    { enabled: revision !== undefined },
  )
  if (!revision) return <Empty>No versions yet. Every upload and every saved change is one.</Empty>
  return (
    <VersionTable
      caption={`Versions of ${revision.testset_variant_slug}`}
      versions={query.data?.pages.flatMap((page) => page.testset_revisions)}
      shown={revision.id}
      linkOf={(it) => ({ to: places.testsetVersion(slug, it.testset_variant_slug, Number(it.version)) })}
      archived={{ isOn, onChange }}
      archivable={({ id, testset_variant_slug: variant, version }) => ({
        ...{ level: 'revision', family: 'testsets', word: 'testset' },
        ...{ id, artifact: slug, variant, version: Number(version) },
      })}
      compare={(it, older, label) => (
        <Link to={places.compareTestset(slug, `r:${older.slug}`, `r:${it.slug}`)}>{label}</Link>
      )}
      query={query}
    />
  )
}

/** The description of a testset, and how to reach it from a terminal. */
function AboutTestset({
  testset,
  revision,
}: {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}) {
  const { name, description, tags, meta, created_at: created } = testset
  return (
    <div className={styles.about}>
      <section aria-label="AboutTestset">
        <h2 dir="auto">{name ?? testset.slug}</h2>
        {description !== undefined && (
          <p className={styles.text} dir="auto">
            {description}
          </p>
        )}
        <p className="muted">
          Created <Ago date={created} inSentence />
          {revision && <>, last changed {revision.author.split(' <')[0]}</>}
        </p>
        {tags && <JsonView name="tags" value={tags} />}
        {meta && <JsonView name="meta" value={meta} />}
      </section>
      <TestsetVariants testset={testset} />
      <SearchSwitch testset={testset} />
      <section aria-label="From a terminal">
        <h2>From a terminal</h2>
        <p>Every row is a file in a git repository.</p>
        <Copyable label="Clones the testset" text={`git clone ${testset.git_url}`} />
        <p>Millions of rows go in and out without the browser:</p>
        <Copyable
          label="Imports and exports"
          text={`${COMMAND} testsets import rows.csv --slug ${testset.slug}\n${COMMAND} testsets export ${testset.slug} --to rows.jsonl.gz`}
        />
      </section>
    </div>
  )
}

/** Switches the search for rows of the testset on or off. */
function SearchSwitch({ testset }: { readonly testset: Testset }) {
  const { mutate, isPending, error } = useWrite('PUT /testsets/{id}')
  const lacking = useRefusal('write')
  const isOn = testset.flags.search
  return (
    <section aria-label="Search">
      <h2>Search</h2>
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        aria-disabled={lacking !== undefined || isPending || undefined}
        aria-describedby="search-cost"
        title={lacking}
        className={styles.switch}
        onClick={() => {
          if (lacking !== undefined || isPending) return
          mutate({
            path: { id: testset.id },
            body: { testset: { id: testset.id, flags: { search: !isOn } } },
          })
        }}
      >
        <span aria-hidden className={styles.knob} />
        Search finds the rows
      </button>
      <p id="search-cost" className="muted">
        {lacking !== undefined && <>{lacking} </>}
        Uses about 22 MB of disk per 100,000 rows. The first thousand rows are found at once; the others are
        indexed in the background. Switching it off removes the rows from the search, never from the testset.
      </p>
      {error && <Failure error={error} />}
    </section>
  )
}
