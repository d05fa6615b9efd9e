import { COMMAND } from '../../api/command-name.ts'
import { Link } from '@tanstack/react-router'
import { placeOfHit, SEARCHED_AGAIN, type SearchHit, wordOfKind } from '../../api/hits.ts'
import { usePages } from '../../api/use-route.ts'
import { Button } from '../../parts/button/button.tsx'
import { Highlighted } from '../../parts/highlighted/highlighted.tsx'
import { Empty } from '../../parts/states/empty.tsx'
import { Failure } from '../../parts/states/failure.tsx'
import { Skeleton } from '../../parts/states/skeleton.tsx'
import styles from './home.module.css'

/** What has the words, the best first, with the place where they stand. */
export function SearchResults({ words }: { readonly words: string }) {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage, refetch } = usePages(
    'POST /search',
    { body: { query: words, windowing: { limit: 25 } } },
    { refetchInterval: SEARCHED_AGAIN },
  )
  if (error) return <Failure error={error} retry={refetch} />
  if (!data) return <Skeleton label="Searching" />
  const hits = data.pages.flatMap((page) => page.hits)
  if (hits.length === 0) {
    return (
      <Empty command={`${COMMAND} search '${words.replaceAll("'", '’')}'`}>
        Nothing has all of these words. Put a phrase in quotes, end a word with * for its beginnings, and put
        - before a word that is not wanted.
      </Empty>
    )
  }
  return (
    <>
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
        <Link {...placeOfHit(hit)}>{artifact.name ?? artifact.slug}</Link>
        <span>
          {[wordOfKind(kind), variant?.slug, revision && `v${revision.version}`, whereIn(field, hit.place)]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </div>
      <p className={styles.excerpt}>
        <Highlighted text={hit.excerpt} ranges={hit.ranges} />
      </p>
    </>
  )
}

function whereIn(field: SearchHit['field'], place: SearchHit['place']): string {
  if (field !== 'data') return field
  if (typeof place === 'string') return place
  return place && 'row' in place ? `row ${place.row}, ${String(place.column)}` : field
}
