{{/* nothing */}}
