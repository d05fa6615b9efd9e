import { Link } from '@tanstack/react-router'
import { GitBranch } from 'lucide-react'
import { useRoute } from '../../../api/use-route.ts'
import { Button } from '../../../parts/button/button.tsx'
import { Failure } from '../../../parts/states/failure.tsx'
import { Skeleton } from '../../../parts/states/skeleton.tsx'
import { useSeen } from '../../../parts/seen/use-seen.ts'
import { Ago } from '../../../parts/time/ago.tsx'
import { places } from '../../../shell/places.ts'
import styles from '../artifact.module.css'
import type { Variant, Variants } from './use-variants.ts'

/** The variants, each with how far it has gone from the default one. */
export function VariantList({ slug, variants }: { readonly slug: string; readonly variants: Variants }) {
  const { all, total, error, isPending, loadMore } = variants
  const [main] = all
  return (
    <section>
      <h2>
        Variants {total !== undefined && <span className={styles.count}>{total.toLocaleString()}</span>}
      </h2>
      {error && <Failure error={error} />}
      {isPending && <Skeleton label="Loading the variants" lines={3} />}
      {!isPending && all.length === 0 && (
        <p className={styles.muted}>None yet: the first push or commit makes one.</p>
      )}
      <ul className={styles.variants}>
        {all.map((variant) => (
          <VariantLine key={variant.id} slug={slug} variant={variant} main={main} />
        ))}
      </ul>
      {loadMore && (
        <Button kind="quiet" onClick={loadMore}>
          {((total ?? all.length) - all.length).toLocaleString()} more
        </Button>
      )}
    </section>
  )
}

interface VariantLineProps {
  readonly slug: string
  readonly variant: Variant
  readonly main: Variant | undefined
}

function VariantLine({ slug, variant, main }: VariantLineProps) {
  const { ref, isSeen } = useSeen<HTMLLIElement>()
  const isMain = variant.id === main?.id
  const isArchived = variant.deleted_at !== undefined
  return (
    <li ref={ref}>
      <GitBranch size={14} aria-hidden />
      <Link to={places.version(slug, variant.slug)} className={styles.variantName} title={variant.slug}>
        {variant.slug}
      </Link>
      {isMain && <span className={styles.badge}>default</span>}
      {isArchived && <span className={styles.archived}>archived</span>}
      <span className={styles.distance}>
        {isSeen && main && !isMain && <Distance slug={slug} main={main} variant={variant} />}
      </span>
      <span className={styles.when}>
        <Ago date={variant.updated_at ?? variant.created_at} />
      </span>
    </li>
  )
}

/** How many revisions the variant has that the default one lacks, and the other way round; it leads to what differs. */
function Distance({
  slug,
  main,
  variant,
}: {
  readonly slug: string
  readonly main: Variant
  readonly variant: Variant
}) {
  const { data, error } = useRoute('POST /workflows/variants/compare', {
    body: { base: { variant: { id: main.id } }, head: { variant: { id: variant.id } } },
  })
  if (error) return <span title={error.message}>–</span>
  if (!data) return <span className={styles.muted}>…</span>
  const { ahead, behind } = data.compare
  const said = `${ahead.toLocaleString()} ahead of ${main.slug}, ${behind.toLocaleString()} behind`
  return (
    <Link to={places.compare(slug, `v:${main.slug}`, `v:${variant.slug}`)} title={said}>
      <span aria-hidden>
        ↑{ahead.toLocaleString()} ↓{behind.toLocaleString()}
      </span>
      <span className="visually-hidden">{said}</span>
    </Link>
  )
}
