import { useParams, Link, useNavigate } from '@tanstack/react-router'
import { ArrowLeftRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { useRoute } from '../../api/use-route.ts'
import { NewsLine } from '../../shell/live.tsx'
import { Button } from '../button/button.tsx'
import { useEnvironments } from '../deploy/use-deployments.ts'
import { Menu, type MenuItem } from '../menu/menu.tsx'
import { Page } from '../page/page.tsx'
import { Empty } from '../states/states.tsx'
import { type ComparedFamily, type End, endsOf, nameOfEnd } from './ends.ts'
import styles from './compare.module.css'

interface CompareFrameProps {
  /** The page of the compared artifact, by its slug. */
  readonly placeOf: (slug: string) => string
  /** The forms of an end in the address. */
  readonly kinds: readonly string[]
  readonly children: (slug: string, base: End, head: End) => ReactNode
}

/** The page that compares two ends, `<base>...<head>` in its address; explains the address if it is not valid. */
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
          Write what to compare with three dots between the two sides, each of them{' '}
          {kinds.map((kind, at) => (
            <span key={kind}>
              {at > 0 && (at === kinds.length - 1 ? ' or ' : ', ')}
              <code>{kind}</code>
            </span>
          ))}
          . “{range}” is not valid.
        </Empty>
      )}
    </Page>
  )
}

/** An option for an end. */
export interface EndChoice {
  readonly label: string
  readonly end: End
}

interface EndsBarProps {
  readonly base: End
  readonly head: End
  readonly choices: readonly EndChoice[]
  /** The address of a comparison. */
  readonly addressOf: (base: End, head: End) => string
  /** The current revision of each end. */
  readonly chips: { readonly base: ReactNode; readonly head: ReactNode }
}

/** Both ends of a comparison, each with a menu, and a button that swaps them. */
export function EndsBar({ base, head, choices, addressOf, chips }: EndsBarProps) {
  const navigate = useNavigate()
  const items = (to: (end: End) => string): readonly MenuItem[] =>
    choices.map(({ label, end }) => ({ label, to: to(end) }))
  return (
    <div className="row gap-below">
      <div className={`card ${styles.end}`}>
        <span className="muted-small">Before</span>
        <Menu
          label={<b>{nameOfEnd(base)}</b>}
          title="Compare from something else"
          items={items((end) => addressOf(end, head))}
        />
        {chips.base}
      </div>
      <Button
        kind="quiet"
        title="Swap both ends"
        aria-label="Swap both ends"
        onClick={() => void navigate({ to: addressOf(head, base) })}
      >
        <ArrowLeftRight size={16} aria-hidden />
      </Button>
      <div className={`card ${styles.end}`}>
        <span className="muted-small">After</span>
        <Menu
          label={<b>{nameOfEnd(head)}</b>}
          title="Compare with something else"
          items={items((end) => addressOf(base, end))}
        />
        {chips.head}
      </div>
    </div>
  )
}

interface StandingProps {
  readonly base: End
  readonly head: End
  readonly compare: {
    readonly merge_base: Short | null
    readonly ahead: number
    readonly behind: number
    readonly ahead_revisions: readonly Short[]
    readonly behind_revisions: readonly Short[]
  }
  /** The page of a revision. */
  readonly placeOf: (revision: Short) => string
}

/** A short revision (interface 6.2). */
interface Short {
  readonly slug: string
  readonly version: number | string
}

/** How far two ends have diverged. */
export function Standing({ base, head, compare, placeOf }: StandingProps) {
  const { merge_base: from, ahead, behind, ahead_revisions: news, behind_revisions: olds } = compare
  if (ahead === 0 && behind === 0) return <p className={styles.standing}>Both are the same version.</p>
  return (
    <div className={styles.standing}>
      <p>
        {from && ahead > 0 && behind > 0 ? (
          <>
            {newVersions(head, ahead, base, behind)} since <Link to={placeOf(from)}>v{from.version}</Link>.
          </>
        ) : (
          <>
            <b>{nameOfEnd(head)}</b> is {distance(ahead, behind)} <b>{nameOfEnd(base)}</b>.
          </>
        )}
      </p>
      <Revisions label="Ahead" revisions={news} placeOf={placeOf} />
      <Revisions label="Behind" revisions={olds} placeOf={placeOf} />
    </div>
  )
}

const MAX_REVISIONS_NAMED = 12

function Revisions({
  label,
  revisions,
  placeOf,
}: {
  readonly label: string
  readonly revisions: readonly Short[]
  readonly placeOf: (revision: Short) => string
}) {
  if (revisions.length === 0) return null
  return (
    <p className={styles.revisions}>
      {label}:
      {revisions.slice(0, MAX_REVISIONS_NAMED).map((it) => (
        <Link key={it.slug} to={placeOf(it)} title={it.slug}>
          v{it.version}
        </Link>
      ))}
      {revisions.length > MAX_REVISIONS_NAMED &&
        `and ${(revisions.length - MAX_REVISIONS_NAMED).toLocaleString()} more`}
    </p>
  )
}

/** `1 new version each`; `2 new versions of warmer and 1 of support-bot`. */
function newVersions(head: End, ahead: number, base: End, behind: number): string {
  const count = `${ahead.toLocaleString()} new ${ahead === 1 ? 'version' : 'versions'}`
  if (ahead === behind) return `${count} each`
  return `${count} of ${nameOfEnd(head)} and ${behind.toLocaleString()} of ${nameOfEnd(base)}`
}

function distance(ahead: number, behind: number): string {
  const parts = [
    ahead > 0 && `${ahead.toLocaleString()} ahead`,
    behind > 0 && `${behind.toLocaleString()} behind`,
  ]
  const words = parts.filter((it) => it !== false).join(' and ')
  return behind > 0 ? words : `${words} of`
}

const NEWEST_OFFERED = 25

/** The options for an end: variants, environments (of workflows), and the newest revisions. */
export function useEndChoices(family: ComparedFamily, slug: string): readonly EndChoice[] {
  // Both families are asked and answered in the same way, in their own words.
  const refs = { [`${family}_refs`]: [{ slug }] }
  const variants = useRoute(`POST /${family}s/variants/query` as 'POST /workflows/variants/query', {
    body: { ...refs, windowing: { order: 'name', limit: 200 } },
  })
  const environments = useEnvironments()
  const withoutRows = family === 'testset' ? { include_testcases: false, include_testcase_ids: false } : {}
  const revisions = useRoute(`POST /${family}s/revisions/query` as 'POST /workflows/revisions/query', {
    body: { ...refs, ...withoutRows, windowing: { order: '-created', limit: NEWEST_OFFERED } },
  })
  return [
    ...(variants.data?.[`${family}_variants` as 'workflow_variants'] ?? []).map((it): EndChoice => ({
      label: it.slug,
      end: { kind: 'variant', slug: it.slug },
    })),
    ...(family === 'workflow' ? environments : []).map((it): EndChoice => ({
      label: `what runs in ${it}`,
      end: { kind: 'environment', slug: it },
    })),
    ...(revisions.data?.[`${family}_revisions` as 'workflow_revisions'] ?? []).map((it): EndChoice => ({
      label: `${it.variant_slug} v${it.version} · ${it.subject}`,
      end: { kind: 'revision', slug: it.slug },
    })),
  ]
}
