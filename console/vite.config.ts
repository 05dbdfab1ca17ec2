import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

const service = process.env.PARLEY_DEV_SERVICE ?? 'http://127.0.0.1:8080'

export default defineConfig({
  base: '/',
  plugins: [react(), preloadTypeface()],
  // No data: URLs, because the content security policy allows fonts from the same origin only.
  build: { target: 'es2023', assetsInlineLimit: 0, reportCompressedSize: false },
  server: {
    proxy: Object.fromEntries(
      ['/v1', '/console/api', '/docs', '/openapi.json', '/readyz'].map((path) => [path, service]),
    ),
  },
})

/** Preloads the font that every page needs while the scripts are still loading. */
function preloadTypeface(): Plugin {
  return {
    name: 'preload-typeface',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((file) => /inter-latin-wght-normal.*\.woff2$/.test(file))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', type: 'font/woff2', href: `/${file}`, crossorigin: true },
            injectTo: 'head-prepend' as const,
          })),
    },
  }
}
