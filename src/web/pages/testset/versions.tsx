import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { usePages } from '../../api/use-route.ts'
import { Empty } from '../../parts/states/empty.tsx'
import { VersionTable } from '../../parts/versions/version-table.tsx'
import { places } from '../../shell/places.ts'
import type { Testset, TestsetRevision } from './records.ts'

export interface VersionsProps {
  readonly testset: Testset
  readonly revision: TestsetRevision | undefined
}

/** The versions of the variant, newest first, each with what it changed. */
export function TestsetVersions({ testset: { slug }, revision }: VersionsProps) {
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
  if (!revision) return <Empty>Versions are what uploads, commits and pushes make. There is none yet.</Empty>
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
