import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useRoute } from '../../api/use-route.ts'
import {
  type Archivable,
  ArchiveDialog,
  ArchivedBadge,
  ArchivedNote,
  ArchivedToggle,
  BringBack,
  archivableArtifact,
} from '../../parts/archive/archive.tsx'
import { Button } from '../../parts/button/button.tsx'
import { Menu } from '../../parts/menu/menu.tsx'
import { useNaming } from '../../parts/naming/naming.tsx'
import { Failure } from '../../parts/states/states.tsx'
import { useUndo } from '../../parts/undo/undo.tsx'
import { places } from '../../shell/places.ts'
import { useRefusal } from '../../shell/session.tsx'
import type { Testset, TestsetRevision } from './rows.ts'

export interface TestsetArchiveProps {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}

/** What is archived: the testset, its variant or this version. */
export function TestsetArchived({ testset, revision }: TestsetArchiveProps) {
  const variant = useRoute(
    'GET /testsets/variants/{id}',
    { path: { id: revision?.testset_variant_id ?? '' } },
    { enabled: revision !== undefined },
  )
  if (testset.deleted_at !== undefined) return <ArchivedNote it={archivable(testset)} />
  if (!revision) return null
  if (variant.data?.testset_variant.deleted_at !== undefined)
    return (
      <ArchivedNote it={variantOf(testset, revision.testset_variant_id, revision.testset_variant_slug)} />
    )
  return revision.deleted_at === undefined ? null : <ArchivedNote it={versionOf(testset, revision)} />
}

/** The menu of a testset, its variant and the shown version. */
export function TestsetMenu({ testset, revision }: TestsetArchiveProps) {
  const [archiving, setArchiving] = useState<Archivable>()
  const mayNotWrite = useRefusal('write')
  const undo = useUndo(
    revision && {
      ...{ family: 'testset', slug: testset.slug, id: revision.id },
      version: Number(revision.version),
      variant: revision.testset_variant_slug,
    },
  )
  const naming = useNaming(
    { ...testset, family: 'testsets' },
    testset.deleted_at === undefined ? mayNotWrite : 'The testset is archived: bring it back first.',
  )
  const item = (label: string, it: Archivable, isArchived: boolean) => ({
    label: `Archive ${label} …`,
    refusal: isArchived ? 'It is archived.' : mayNotWrite,
    run: () => setArchiving(it),
  })
  return (
    <>
      <Menu
        label="More"
        title="Actions for the testset"
        items={[
          ...(revision
            ? [
                ...undo.items,
                item(`v${revision.version}`, versionOf(testset, revision), revision.deleted_at !== undefined),
                item(
                  `the variant ${revision.testset_variant_slug}`,
                  variantOf(testset, revision.testset_variant_id, revision.testset_variant_slug),
                  false,
                ),
              ]
            : []),
          ...naming.items,
          item('the testset', archivable(testset), testset.deleted_at !== undefined),
        ]}
      />
      {archiving && <ArchiveDialog it={archiving} close={() => setArchiving(undefined)} />}
      {naming.dialogs}
      {undo.dialogs}
    </>
  )
}

/** The variants of a testset, with archived ones on request. */
export function TestsetVariants({ testset }: { readonly testset: Testset }) {
  const [isOn, onChange] = useState(false)
  const [archiving, setArchiving] = useState<Archivable>()
  const { data, error } = useRoute(
    'POST /testsets/variants/query',
    {
      body: {
        testset_refs: [{ slug: testset.slug }],
        ...(isOn ? { include_archived: true } : {}),
        windowing: { order: 'ascending', limit: 200 },
      },
    },
    { keepPrevious: true },
  )
  return (
    <section aria-label="Variants">
      <h2>Variants</h2>
      {error && <Failure error={error} />}
      <ArchivedToggle isOn={isOn} onChange={onChange} />
      <ul className="lines">
        {data?.testset_variants.map(({ id, slug, deleted_at: archivedAt }) => (
          <li key={id}>
            <Link to={places.testsetVersion(testset.slug, slug)}>{slug}</Link>
            {archivedAt === undefined ? (
              <Button kind="quiet" needs="write" onClick={() => setArchiving(variantOf(testset, id, slug))}>
                Archive {slug} …
              </Button>
            ) : (
              <>
                <ArchivedBadge />
                <BringBack it={variantOf(testset, id, slug)} isShort />
              </>
            )}
          </li>
        ))}
      </ul>
      {archiving && <ArchiveDialog it={archiving} close={() => setArchiving(undefined)} />}
    </section>
  )
}

function archivable(testset: Testset): Archivable {
  return archivableArtifact('testsets', 'testset', testset)
}

function variantOf(testset: Testset, id: string, variant: string): Archivable {
  return { ...archivable(testset), level: 'variant', id, variant }
}

function versionOf(testset: Testset, revision: TestsetRevision): Archivable {
  const { id, version, testset_variant_slug: variant } = revision
  return { ...archivable(testset), level: 'revision', id, variant, version: Number(version) }
}
