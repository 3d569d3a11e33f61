import{createRequire}from"node:module";import{readFile}from"node:fs/promises";const packaged=/* @__PURE__ */ new Map([[`swagger-ui.css`,`text/css; charset=utf-8`],[`swagger-ui-bundle.js`,`text/javascript; charset=utf-8`],[`favicon-32x32.png`,`image/png`]]);const strict={"Content-Security-Policy":[`default-src 'none'`,`script-src 'self'`,`style-src 'self'`,`img-src 'self' data:`,`connect-src 'self'`,`base-uri 'none'`,`form-action 'none'`,`frame-ancestors 'none'`].join(`; `),"X-Content-Type-Options":`nosniff`,"Referrer-Policy":`no-referrer`};const start=`SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#docs',
  validatorUrl: null,
  deepLinking: true,
  persistAuthorization: false,
});
`;function docsPage(title){const page=`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${title}</title>
    <link rel="stylesheet" href="docs/swagger-ui.css">
    <link rel="icon" href="docs/favicon-32x32.png">
  </head>
  <body>
    <div id="docs"></div>
    <script src="docs/swagger-ui-bundle.js"><\/script>
    <script src="docs/start.js"><\/script>
  </body>
</html>
`;return new Response(page,{headers:{...strict,"Content-Type":`text/html; charset=UTF-8`}})}async function pageAsset(name){if(name===`start.js`)return new Response(start,{headers:{...strict,"Content-Type":`text/javascript; charset=utf-8`}});const type=packaged.get(name);if(type===void 0)return void 0;const bytes=await readFile(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`));return new Response(new Uint8Array(bytes),{headers:{...strict,"Content-Type":type,"Cache-Control":`max-age=3600`}})}export{pageAsset as n,docsPage as t};