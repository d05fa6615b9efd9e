import { useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { NewsLine } from '../../shell/news-line.tsx'
import { Page } from '../page/page.tsx'
import { Empty } from '../states/empty.tsx'
import { type End, endsOf } from './ends.ts'

export interface CompareFrameProps {
  /** The page of what is compared, by its slug. */
  readonly placeOf: (slug: string) => string
  /** What an end can be, as the address writes it. */
  readonly kinds: readonly string[]
  readonly children: (slug: string, base: End, head: End) => ReactNode
}

/** The page of two ends beside each other, `<base>...<head>` of its address; says what an end is where there are none. */
export function CompareFrame({ placeOf, kinds, children }: CompareFrameProps) {
  const { slug = '', range = '' } = useParams({ strict: false }) as Readonly<
    Record<string, string | undefined>
  >
  const ends = endsOf(range)
  return (
    <Page
      wide
      crumbs={[{ label: 'Home', to: '/' }, { label: slug, to: placeOf(slug) }, { label: 'Compare' }]}
    >
      {ends ? (
        <>
          <NewsLine
            concerns={({ references }) => Object.values(references).some((it) => it?.slug === slug)}
          />
          {children(slug, ends.base, ends.head)}
        </>
      ) : (
        <Empty>
          Two ends are compared, with three dots between them:{' '}
          {kinds.map((kind, at) => (
            <span key={kind}>
              {at > 0 && (at === kinds.length - 1 ? ' or ' : ', ')}
              <code>{kind}</code>
            </span>
          ))}
          . “{range}” is not that.
        </Empty>
      )}
    </Page>
  )
}
