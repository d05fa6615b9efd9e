import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { addressOf } from '../../api/call.ts'
import { Button } from '../../parts/button/button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { Page } from '../../parts/page/page.tsx'
import { RevisionChip } from '../../parts/revision-chip/revision-chip.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import { LinkTabs } from '../../parts/tabs/link-tabs.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { NewsLine } from '../../shell/news-line.tsx'
import { places } from '../../shell/places.ts'
import { AboutTestset } from './about.tsx'
import { NoRows } from './no-rows.tsx'
import type { Testset, TestsetRevision } from './records.ts'
import { RowsView } from './rows-view.tsx'
import { UploadDialog } from './upload-dialog.tsx'
import { TestsetArchived, TestsetMenu } from './testset-archive.tsx'
import { TestsetVersions } from './versions.tsx'

export interface TestsetViewProps {
  readonly testset: Testset
  /** The revision that is shown; undefined where there is none, or while it is on its way. */
  readonly revision: TestsetRevision | undefined
  /** How many rows it has. */
  readonly total: number
  /** Whether the address names it. */
  readonly isPinned: boolean
  /** Whether it has no revision yet. */
  readonly isEmpty: boolean
  /** Why the revision cannot be shown. */
  readonly failure: ReactNode
}

/** A testset with what can be done with it. `?view=versions|about` are its other tabs. */
export function TestsetView({ testset, revision, total, isPinned, isEmpty, failure }: TestsetViewProps) {
  const { slug } = testset
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const view = search['view'] ?? 'rows'
  const navigate = useNavigate()
  const [file, setFile] = useState<File | 'none'>()
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
            // Who opens it in a spreadsheet must not run what somebody else wrote into a cell.
            ...(type === 'csv' ? { escape_formulas: true } : {}),
          },
        }),
      )
    },
  })
  return (
    <Page
      wide
      fills={view === 'rows' && revision !== undefined}
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
            kind="primary"
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
      ) : revision ? (
        <RowsView testset={testset} revision={revision} total={total} drop={setFile} />
      ) : isEmpty ? (
        <NoRows testset={testset} drop={setFile} />
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
