import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** `npm run dev` forwards everything else to this server. */
const server = process.env['BRANCHPOINT_URL'] ?? 'http://127.0.0.1:3000'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // No inlined files: the page's policy forbids them.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // A chunk is named after its folder: all pages are called page.tsx.
        chunkFileNames: ({ facadeModuleId, name }) =>
          `assets/${/pages\/([\w-]+)\/page\.tsx$/.exec(facadeModuleId ?? '')?.[1] ?? name}-[hash].js`,
      },
    },
  },
  server: {
    // The page's own folder api has the same prefix.
    proxy: { '^/api/(?![\\w-]+\\.ts(?:\\?|$))': server },
  },
})
