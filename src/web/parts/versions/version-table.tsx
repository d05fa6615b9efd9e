import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import {
  type Archivable,
  ArchivedBadge,
  ArchivedToggle,
  type ArchivedToggleProps,
  BringBack,
} from '../archive/archive.tsx'
import { MoreButton } from '../button/button.tsx'
import { authorName } from '../chips/chips.tsx'
import { Failure, Skeleton } from '../states/states.tsx'
import { Table } from '../table/table.tsx'
import { Ago } from '../time/time.tsx'

/** The fields of a version in the table. */
export interface ListedVersion {
  readonly id: string
  readonly version: number | string
  readonly message?: string | null | undefined
  readonly subject: string
  readonly author: string
  readonly date: string
  /** Set if it is archived by itself. */
  readonly deleted_at?: string | undefined
}

export interface VersionTableProps<R extends ListedVersion> {
  readonly caption: string
  /** The loaded versions, newest first; undefined while the first ones load. */
  readonly versions: readonly R[] | undefined
  /** The id of the shown version. */
  readonly shown: string
  readonly linkOf: (version: R) => { readonly to: string; readonly search?: Readonly<Record<string, string>> }
  /** The version as an archivable item. */
  readonly archivable: (version: R) => Archivable
  /** Whether archived versions are shown, and how to change that. */
  readonly archived: Pick<ArchivedToggleProps, 'isOn' | 'onChange'>
  /** Renders the comparison with the previous version. */
  readonly compare: (version: R, older: R, label: string) => ReactNode
  /** The query that loads the versions. */
  readonly query: {
    readonly error: Error | null
    readonly refetch: () => unknown
    readonly hasNextPage: boolean
    readonly fetchNextPage: () => unknown
    readonly isFetchingNextPage: boolean
  }
}

/** Versions, newest first, each with message, author, date, and a comparison. */
export function VersionTable<R extends ListedVersion>(props: VersionTableProps<R>) {
  const { caption, versions, shown, linkOf, archivable, archived, compare, query } = props
  if (query.error) return <Failure error={query.error} retry={query.refetch} />
  if (!versions) return <Skeleton label="Loading the versions" />
  return (
    <>
      <ArchivedToggle {...archived} />
      <Table
        caption={caption}
        rows={versions.map((it, at) => ({ it, older: versions[at + 1] }))}
        keyOf={({ it }) => it.id}
        columns={[
          {
            name: 'Version',
            cell: ({ it }) => (
              <>
                <Link {...linkOf(it)}>
                  <b>v{it.version}</b>
                  {it.id === shown && ' · shown'}
                </Link>
                {it.deleted_at !== undefined && (
                  <>
                    {' '}
                    <ArchivedBadge /> <BringBack it={archivable(it)} isShort />
                  </>
                )}
              </>
            ),
          },
          { name: 'What', cell: ({ it }) => it.message ?? it.subject },
          { name: 'By', cell: ({ it }) => <bdi title={it.author}>{authorName(it.author)}</bdi> },
          { name: 'When', cell: ({ it }) => <Ago date={it.date} /> },
          {
            name: 'Changes',
            cell: ({ it, older }) => older && compare(it, older, `Compare with v${older.version}`),
          },
        ]}
      />
      <MoreButton of={query}>Show older versions</MoreButton>
    </>
  )
}
