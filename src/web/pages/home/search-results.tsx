import { COMMAND } from '../../api/command-name.ts'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { placeOfHit, SEARCHED_AGAIN, type SearchHit, wordOfKind } from '../../api/hits.ts'
import { usePages } from '../../api/use-route.ts'
import type { Archivable } from '../../parts/archive/archivable.ts'
import { ArchivedBadge, ArchivedToggle, BringBack } from '../../parts/archive/archived.tsx'
import { Button } from '../../parts/button/button.tsx'
import { Highlighted } from '../../parts/highlighted/highlighted.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import styles from './home.module.css'

/** What has the words, the best first, with the place where they stand. */
export function SearchResults({ words }: { readonly words: string }) {
  const { archived } = useSearch({ strict: false }) as Readonly<Record<string, string | undefined>>
  const navigate = useNavigate()
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = usePages(
    'POST /search',
    {
      body: {
        query: words,
        ...(archived === undefined ? {} : { include_archived: true }),
        windowing: { limit: 25 },
      },
    },
    { refetchInterval: SEARCHED_AGAIN },
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Searching" />
  const hits = data.pages.flatMap((page) => page.hits)
  const toggle = (
    <ArchivedToggle
      isOn={archived !== undefined}
      onChange={(isOn) =>
        void navigate({
          to: '/',
          search: ((kept: object) => ({ ...kept, archived: isOn ? '1' : undefined })) as never,
          replace: true,
        })
      }
    />
  )
  if (hits.length === 0) {
    return (
      <>
        {toggle}
        <Empty command={`${COMMAND} search '${words.replaceAll("'", '’')}'`}>
          Nothing has all of these words. Put a phrase in quotes, end a word with * for its beginnings, and
          put - before a word that is not wanted.
        </Empty>
      </>
    )
  }
  return (
    <>
      {toggle}
      <ol className={styles.hits} aria-label="What was found">
        {hits.map((hit, at) => (
          <li key={at}>
            <Hit hit={hit} />
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <Button busy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          More
        </Button>
      )}
    </>
  )
}

function Hit({ hit }: { readonly hit: SearchHit }) {
  const { kind, artifact, variant, revision, field } = hit
  return (
    <>
      <div className={styles.hitHead}>
        <Link {...placeOfHit(hit)} dir="auto">
          {artifact.name ?? artifact.slug}
        </Link>
        <span>
          {[wordOfKind(kind), variant?.slug, revision && `v${revision.version}`, whereIn(field, hit.place)]
            .filter(Boolean)
            .join(' · ')}
        </span>
        {hit.archived && (
          <>
            <ArchivedBadge />
            <BringBack it={archivedOf(hit, hit.archived)} />
          </>
        )}
      </div>
      <p className={styles.excerpt} dir="auto">
        <Highlighted text={hit.excerpt} ranges={hit.ranges} />
      </p>
    </>
  )
}

/** What of a hit is archived. */
function archivedOf(
  { kind, artifact, variant, revision }: SearchHit,
  level: Archivable['level'],
): Archivable {
  return {
    ...{ level, artifact: artifact.slug, variant: variant?.slug, word: wordOfKind(kind) },
    family:
      kind === 'testset' || kind === 'row'
        ? 'testsets'
        : kind === 'query'
          ? 'queries'
          : kind === 'environment'
            ? 'environments'
            : 'workflows',
    id: (level === 'artifact' ? artifact.id : level === 'variant' ? variant?.id : revision?.id) ?? '',
    version: revision && Number(revision.version),
  }
}

function whereIn(field: SearchHit['field'], place: SearchHit['place']): string {
  if (field !== 'data') return field
  if (typeof place === 'string') return place
  return place && 'row' in place ? `row ${place.row}, ${String(place.column)}` : field
}
