import { useRoute } from '../../api/use-route.ts'
import type { EndChoice } from './ends-bar.tsx'

const NEWEST_OFFERED = 25

/** What an end of a comparison can be: variants, environments that run the artifact, the newest revisions. */
export function useEndChoices(slug: string): readonly EndChoice[] {
  const variants = useRoute('POST /workflows/variants/query', {
    body: { workflow_refs: [{ slug }], windowing: { order: 'name', limit: 200 } },
  })
  const environments = useRoute('GET /projects/current', {})
  const revisions = useRoute('POST /workflows/revisions/query', {
    body: { workflow_refs: [{ slug }], windowing: { order: '-created', limit: NEWEST_OFFERED } },
  })
  return [
    ...(variants.data?.workflow_variants ?? []).map((it): EndChoice => ({
      label: it.slug,
      end: { kind: 'variant', slug: it.slug },
    })),
    ...(environments.data?.project.environments ?? []).map((it): EndChoice => ({
      label: `what runs in ${it}`,
      end: { kind: 'environment', slug: it },
    })),
    ...(revisions.data?.workflow_revisions ?? []).map((it): EndChoice => ({
      label: `${it.workflow_variant_slug} v${it.version} · ${it.subject}`,
      end: { kind: 'revision', slug: it.slug },
    })),
  ]
}
